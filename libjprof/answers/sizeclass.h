/* Fragmentation: which size classes of small objects have free places, whose objects are beside them, and who freed
 * those that lay there. */
#pragma once

#include "answers/explanation.h"

/* Adds a row for each size class with free places, most bytes first, and behind them the owners of free places.
 * `places` is a view of `now` by line or function. Whose objects lie in a class now their sampled stacks say. Who freed
 * what lay in the free places only a dump with what was ever allocated says (prof_accum): each owner of a class has the
 * part of its free places that it has of what was freed in it. Without that those classes alone have an owner whose
 * sampled objects, ten or more, are all of one. */
int jp_explain_size_classes(struct jprof_explanation *explanation, const struct jprof_profile *now,
                            const struct jprof_profile *change, const struct jprof_view *places,
                            struct jprof_error *err);

/* Where each live object was counted: a row of depth 1 for their sizes, and behind it one of depth 2 for each size,
 * most bytes first. The last row of depth 0 gets the number of all. They have their growth where `change`, which may be
 * NULL, counted them before, too. 0, or -1 when memory is short. */
int jp_explain_live_sizes(struct jprof_explanation *explanation, const struct jprof_profile *now,
                          const struct jprof_profile *change);
