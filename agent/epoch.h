/* Epochs: in which stretch of time something was allocated. docs/internals/ruby-table.md says what they promise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Epochs last so many seconds; 0: there are none. In the constructor. Returns 0 or an errno. */
int epoch_init(unsigned seconds);

bool epoch_is_on(void);

/* In a sampled allocation: the running epoch, from 1 on. Takes no lock that it would wait for. */
uint32_t epoch_now(void);

/* Closes the running one, on any thread. All sampled before is in epochs below the one that is returned. */
uint32_t epoch_close(void);

/* In a forked child, which goes on from here in an epoch of its own. */
void epoch_forked(void);

/* When this process began, by epoch_clock(), its first epoch, and how many forks lie before it. */
struct epoch_start {
	uint64_t time;
	uint32_t first, forks;
};

struct epoch_start epoch_start(void);

/* Milliseconds since 1970, by the clock of the epochs. */
uint64_t epoch_clock(void);

/* ---- with a dump, by one thread at a time */

/* The dump has samples of this epoch. */
void epoch_use(uint32_t epoch);

/* Calls `each` for the epochs that were used, in ascending order; end is 0 while it runs. Then forgets the times of
 * those that ended and were not. */
void epoch_each_used(void (*each)(uint32_t epoch, uint64_t begin, uint64_t end, void *arg), void *arg);
