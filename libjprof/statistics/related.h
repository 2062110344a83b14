/* Sums and differences of dumps whose processes have a common past: two dumps of one process, or of
 * processes that forked from one. The same sampled object may stand in both, and its error with it.
 * docs/internals/statistics.md has the reasons. */
#pragma once

#include "statistics/evidence.h"

/* Adds what was seen of the same stack in a related dump: the errors add up, as if all that was sampled in one had
 * been in the other, which is a bound. `factor` is that of their values. */
void jp_seen_join(struct jp_seen *to, const struct jp_seen *from, double factor);

/* What is known of the two sides of a stack besides their samples. */
struct jp_sides {
	bool equal[2]; /* the values in use are the same on both sides; those of what was ever allocated */
	bool closed;   /* the late one's objects in use are all among the early one's */
};

/* Takes from two sides of a difference the sampled objects that are in both, which leave no error. Where it is not
 * known which these are, notes so in *lineage. */
void jp_seen_cancel(struct jp_seen *late, struct jp_seen *early, const struct jp_sides *sides,
                    struct jp_lineage *lineage);
