/* What is compared stands in the order of its times. */
#pragma once

#include "report/options.h"

/* Puts the dumps into the order of their times, where these are known of all, and says so if that is another one. False
 * after having said that a file is given twice. */
bool order_series(char **dumps, int count);

/* The same for the one dump and what --diff_base names. */
bool order_base(char **dumps, int count, struct options *options);

/* Whether a dump and its base, whose difference this is, are one and the same snapshot, which is said. */
bool order_is_same(const struct jprof_profile *difference, const char *path, const char *base);

/* Whether both have a profile, or neither; else that was said. */
bool order_are_alike(const struct jprof_profile *now, const struct jprof_profile *base, const char *path,
                     const char *base_path);
