/* What would make the memory less. */
#pragma once

#include "answers/explanation.h"

/* Adds what would help, by what the rows and the profile's processes are: what is sure first, then what saves most. 0,
 * or -1 when memory is short. */
int jp_explain_helps(struct jprof_explanation *explanation, const struct jprof_profile *now) jp_must_check;
