/* Sums and differences of dumps whose processes have a common past: two dumps of one process, or of
 * processes that forked from one. The same sampled object may stand in both, and its error with it.
 * docs/statistics.md has the reasons. */
#ifndef JP_OPS_RELATED_H
#define JP_OPS_RELATED_H

#include "model/profile.h"

/* Whether two profiles have a common past: most files that both have mapped lie at the same
 * addresses. Without maps that is taken for granted, for then stacks meet by their addresses.
 * `object` tells what the ids of `from` are in `to`. Before the mappings of one go to the other. */
bool jp_related(const struct jprof_profile *to, const struct jprof_profile *from, const uint32_t *object);

/* Adds what a related sample of the same stack holds: the errors add up, as if all that was sampled in
 * one had been in the other. Notes in *lineage that this is a bound. */
void jp_sample_join(struct jp_sample *to, const struct jp_sample *like, double factor, struct jp_lineage *lineage);

/* Takes away what a related sample of the same stack holds. Sampled objects that are in both leave no
 * error; where it is not known which, notes so in *lineage. */
void jp_sample_cancel(struct jp_sample *to, const struct jp_sample *like, struct jp_lineage *lineage);

#endif
