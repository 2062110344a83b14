/* Fragmentation: which size classes of small objects have free places, and whose objects are beside them. */
#ifndef JP_ANSWERS_SIZECLASS_H
#define JP_ANSWERS_SIZECLASS_H

#include "answers/explanation.h"

/* Adds a row for each size class with free places, most bytes first. `groups` is a view of `now` by group. Whose
 * objects lie in a class now is told by their sampled stacks; who freed the others is not known. */
int jp_explain_size_classes(struct jprof_explanation *explanation, const struct jprof_profile *now,
                            const struct jprof_profile *change, const struct jprof_view *groups,
                            struct jprof_error *err);

#endif
