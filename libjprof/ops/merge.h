/* Sums and differences of profiles. */
#pragma once

#include "model/profile.h"

/* How one profile is added to another. */
struct jp_merging {
	double factor;
	bool part;     /* of a sum of differences, of whose parts the caller says what they compare */
	bool replaced; /* the two are of different processes, whatever their maps look like */
	size_t common; /* filled in: stacks that both have */
};

/* Adds `factor` times `from`: jprof_profile_add with 1, jprof_profile_difference with -1. */
int jp_profile_merge_as(struct jprof_profile *to, const struct jprof_profile *from, struct jp_merging *how,
                        struct jprof_error *err);

/* The same, of the whole thing. */
int jp_profile_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor,
                     struct jprof_error *err);

/* Notes what a whole difference compares that has nothing to do with each other. `some`: both sides have stacks. *same
 * is whether they are of the same processes, as far as is known. 0, or -1 when memory is short. */
int jp_merge_note(struct jprof_profile *difference, bool some, size_t common, bool *same) jp_must_check;
