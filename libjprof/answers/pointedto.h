/* Live memory by what points to it. */
#pragma once

#include "answers/explanation.h"

/* Where that was looked for (docs/internals/outside.md): behind the row of live memory one of depth 1 for each kind,
 * and behind it one of depth 2 for each that points there, own classes first, then most bytes first. `change` may be
 * NULL. 1 where there are such rows, 0, or -1 when memory is short. */
int jp_explain_referrers(struct jprof_explanation *explanation, const struct jprof_profile *now,
                         const struct jprof_profile *change) jp_must_check;

/* To what no pointer was found, where that was looked for: a row of depth 1, and with `details` behind it those of
 * depth 2 by size and content, most bytes first. 0, or -1 when memory is short. */
int jp_explain_unreachable(struct jprof_explanation *explanation, const struct jprof_profile *now,
                           bool details) jp_must_check;
