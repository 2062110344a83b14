/* Live processes; the public part is in jprof.h. */
#pragma once

#include "base/arena.h"
#include "jprof-live.h"

/* Fills in *process, whose pid is set, from /proc/PID; strings come from `arena`. Its role by its own title
 * alone. A process that is gone or a zombie is no error, but a state; that it cannot be read for want
 * of descriptors, or by an error of reading, stands in process->error. 0, or -1 when memory is short. */
int jp_process_read(struct jp_arena *arena, const char *proc, struct jprof_process *process) jp_must_check;

/* What jp_process_read does, in two steps: who it is; what it has mapped. */
int jp_process_read_basics(struct jp_arena *arena, const char *proc, struct jprof_process *process) jp_must_check;
int jp_process_read_maps(struct jp_arena *arena, const char *proc, struct jprof_process *process) jp_must_check;
