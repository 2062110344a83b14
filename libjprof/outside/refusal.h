/* Why the memory of a process may not be read. */
#pragma once

#include "jprof-live.h"

/* The error for an errno of opening its memory: the reason that was found, as a sentence. ptrace(2), "Ptrace access
 * mode checking", has what the kernel looks at. */
int jp_refusal(const struct jprof_target *target, int error, struct jprof_error *err);
