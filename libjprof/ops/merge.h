/* Sums and differences of profiles. */
#ifndef JP_OPS_MERGE_H
#define JP_OPS_MERGE_H

#include "model/profile.h"

/* Adds `factor` times `from`: jprof_profile_add with 1, jprof_profile_difference with -1. */
int jp_profile_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor,
                     struct jprof_error *err);

#endif
