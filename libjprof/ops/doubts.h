/* Files of which nothing proves that they ran. */
#pragma once

#include "model/profile.h"

/* Notes, once names were found, whose names may be wrong: of files that changed after the dump was made, and of files
 * that nothing proves, where these name a hundredth of the bytes or more. A line each for all of them. 0, or -1 when
 * memory is short. */
int jp_note_doubts(struct jprof_profile *profile);
