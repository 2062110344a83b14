/* What code costs, in branches taken: the same in every run, whatever else the machine does. Only the sources of the
 * library "counted" of meson.build count; they are compiled with -fsanitize-coverage=trace-pc. */
#pragma once

#include <stdint.h>

/* Branches taken so far. */
uint64_t cost_taken(void);

/* Runs `job` with n and with 10 n. 0 if ten times the work costs at most 20 times as much: n log n does, n^2 does not;
 * else 1, after having said so. `job` returns what it has cost. */
int cost_compare(const char *name, uint64_t (*job)(unsigned n), unsigned n);
