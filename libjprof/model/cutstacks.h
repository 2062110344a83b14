/* Stacks that jemalloc cut at its limit of frames: the outermost callers are missing. jemalloc keeps 128 frames
 * (prof_bt_max, which later versions let a program set); where the agent adds to stacks, some fewer. */
#pragma once

#include "input/dumpdata.h"
#include "model/rubyframes.h"

/* Which stacks of a dump are cut, by their places before anything is taken off. A stack counts as cut that is as deep
 * as the deepest, at 122 frames or more, or where several are so deep and several are not; and whose outermost frame no
 * shorter stack ends in, as a thread's or a program's beginning does. One that goes on in Ruby is complete. An array to
 * be freed, by stack; NULL when memory is short. */
bool *jp_cut_stacks(const struct jprof_dump *dump, const uint32_t *places, const struct jp_ruby_load *ruby,
                    size_t location_count) jp_must_check;

/* Counts a record of a profile. */
void jp_cut_count(struct jp_cut_sums *sums, const struct jp_samples *samples, const uint64_t count[JPROF_COUNTERS],
                  bool cut);
