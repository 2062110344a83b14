/* Ruby's GC heap: what is in it. */
#pragma once

#include "answers/explanation.h"

/* Bytes of the slots that have an object, where these were counted; NAN. `base`: of what was subtracted. */
double jp_counted_slots(const struct jprof_profile *profile, bool base);

/* Where Ruby's objects were counted (jprof snap --objects): a row of depth 1 for each type, most slots first, then one
 * for each class of objects, structs and extensions' data. Bytes are those of slots. 0, or -1 when memory is short. */
int jp_explain_objects(struct jprof_explanation *explanation, const struct jprof_profile *now,
                       const struct jprof_profile *change) jp_must_check;
