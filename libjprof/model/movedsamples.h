/* Ruby to 3.2 allocates the data of small Arrays, Hashes, Structs and objects in a heap of its own, and what lives it
 * moves to malloc's memory in a job after a collection. Of such a sample nobody knows which line made it. Samples of
 * the objects know theirs, and how much of theirs was moved: docs/internals/statistics.md. */
#pragma once

#include "model/rubyframes.h"

/* Gives what was moved to the lines of its owners, as far as the samples of a dump's table tell, epoch by epoch; the
 * total stays, and what they do not tell has no line still. Such a stack has the allocator's place, one that says whose
 * data it was, and the stack of the owner. All samples of the dump are in the profile, with this worker (a string id,
 * or JP_NONE), and none of slots. 0, or -1 when memory is short. */
int jp_moved_samples_divide(struct jp_ruby_load *load, uint32_t worker) jp_must_check;

/* Where that is to be undone, because it was done on one side of a difference alone: makes the samples that take it all
 * back, `less` included. (*back)[i] is the one for sample i of *count, or JP_NONE; for free(), in either case. 0, or -1
 * when memory is short. */
int jp_moved_samples_back(struct jprof_profile *profile, uint32_t **back, uint32_t *count) jp_must_check;

/* Does so. */
void jp_moved_samples_undo(struct jprof_profile *profile, const uint32_t *back, uint32_t count);
