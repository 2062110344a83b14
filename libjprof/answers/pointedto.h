/* Live memory by what points to it. */
#ifndef JP_ANSWERS_POINTEDTO_H
#define JP_ANSWERS_POINTEDTO_H

#include "answers/explanation.h"

/* Where that was looked for (docs/outside.md): behind the row of live memory one of depth 1 for each kind, and behind
 * it one of depth 2 for each that points there, own classes first, then most bytes first. `change` may be NULL. 1 where
 * there are such rows, 0, or -1 when memory is short. */
int jp_explain_referrers(struct jprof_explanation *explanation, const struct jprof_profile *now,
                         const struct jprof_profile *change) jp_must_check;

#endif
