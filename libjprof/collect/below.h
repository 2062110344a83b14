/* Opening what a live process sees: through its opener, or, without one, with the caller's own rights by the same
 * rules. */
#ifndef JP_COLLECT_BELOW_H
#define JP_COLLECT_BELOW_H

#include <sys/stat.h>

#include "collect/target.h"

/* See struct jprof_opener. */
int jp_below_open(const struct jprof_target *target, enum jprof_open what, const char *path, struct stat *st);
int jp_below_remove(const struct jprof_target *target, const char *path, const struct stat *st);

/* What an errno of these two means. */
const char *jp_below_reason(int error);

#endif
