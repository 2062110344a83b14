/* How much memory the program may take: when it takes more it ends with one line, and not by the kernel's hand, which
 * may choose another process of the same control group. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Begins to watch the memory of the program and of its children (what no file stands behind). `size` is what
 * --max-memory was given, such as 500M; NULL: what the control group has left (less a margin), or half of what the
 * machine has free, whichever is smaller; where neither is known nothing is watched. A thread looks at it at least
 * fifty times a second, the more often the nearer the limit is; over the limit it says so and ends the program with
 * status 1. False after having said that `size` is none. */
bool budget_watch(const char *size);

/* What is to be done, on the thread that watches, before that ends the program. It must not wait for long: memory is
 * short. */
void budget_at_end(void (*end)(void));

/* Bytes that the program may still take; UINT64_MAX: nothing is watched. */
uint64_t budget_left(void);

/* Around a fork: the thread that watches stands still between the two, and holds no lock of a library, which the child
 * would wait for. */
void budget_pause(void);
void budget_resume(void);

/* What the child takes beyond what it has of the program counts from now on: from between the two above, so that it has
 * all of that at first. Nothing is counted of what cannot be read, nor of more than four at a time. */
void budget_add_child(pid_t pid);

/* Before its end was waited for or after it. */
void budget_remove_child(pid_t pid);

/* A size such as 500M, in bytes; k, M and G are powers of 1024. 0: it is none. */
uint64_t budget_size(const char *text);

/* What a control group has less of: what it may take before the kernel slows it down (memory.high), or before the
 * kernel ends one of its processes. */
enum budget_until { BUDGET_UNTIL_SLOWED, BUDGET_UNTIL_KILLED };

/* Bytes that the control group of a process, and those above it, have left before memory.max, and memory.high where
 * that counts (version 2), or memory.limit_in_bytes (version 1); page cache that can be given back counts as left.
 * `membership` is the text of /proc/PID/cgroup, `root` where /sys/fs/cgroup is. UINT64_MAX: no limit, or not known. */
uint64_t budget_of_cgroup(const char *root, const char *membership, enum budget_until until);

/* The same of a process that is there; 0: of the program itself. */
uint64_t budget_of_process(pid_t pid, enum budget_until until);
