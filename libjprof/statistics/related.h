/* Sums and differences of dumps whose processes have a common past: two dumps of one process, or of
 * processes that forked from one. The same sampled object may stand in both, and its error with it.
 * docs/statistics.md has the reasons. */
#ifndef JP_STATISTICS_RELATED_H
#define JP_STATISTICS_RELATED_H

#include "statistics/evidence.h"

/* Adds what was seen of the same stack in a related dump: the errors add up, as if all that was sampled in one had
 * been in the other, which is a bound. `factor` is that of their values. */
void jp_seen_join(struct jp_seen *to, const struct jp_seen *from, double factor);

/* Takes from two sides of a difference the sampled objects that are in both, which leave no error. equal[0] tells
 * whether the values in use are the same on both sides, equal[1] those of what was ever allocated. Where it is not
 * known which objects are in both, notes so in *lineage. */
void jp_seen_cancel(struct jp_seen *late, struct jp_seen *early, const bool equal[2], struct jp_lineage *lineage);

#endif
