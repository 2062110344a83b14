/* How much memory is in use. */
#pragma once

#include <stdint.h>

/* Resident bytes of this process; 0 where that cannot be read. */
uint64_t memory_rss(void);

/* Finds the control group whose limit is nearest: this process's or one above it, version 2 or 1. To be called again
 * when the process may have moved. */
void memory_find_cgroup(void);

/* Percent of that limit which is in use, 0 without a limit. */
unsigned memory_cgroup_percent(void);

/* How many bytes may still be taken of each of these groups, without the file pages that it would give back first and
 * before the kernel would slow it down, and of the machine. UINT64_MAX where neither is known. */
uint64_t memory_left(void);

/* How many bytes may still be taken before the kernel ends a process of one of these groups, or of the machine: a group
 * that is only slowed down has more room than memory_left() says. UINT64_MAX where that is not known. */
uint64_t memory_room(void);

/* NULL, or that less than so many MB are left, in words; they stay until the next call. */
const char *memory_refusal(unsigned megabytes);

/* Bytes of address space that `ulimit -v` leaves; UINT64_MAX without such a limit, 0 where that cannot be read. Takes
 * none itself: the program might need it at that very moment. */
uint64_t memory_addresses_left(void);
