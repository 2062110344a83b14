/* The agent's thread and its stack. The C library takes the thread's static TLS, which is as large as the program and
 * its libraries make it, out of the stack: the stack is as large as that and what a dump needs. */
#pragma once

#include <stdbool.h>

/* In the constructor: it takes the loader's lock. */
void thread_init(void);

/* Starts a detached thread that takes no signal, whoever's it is. One in a process; a forked child's has the stack of
 * its parent's, which is gone there. Returns 0, or an errno: EAGAIN where no more threads may be had, ENOMEM where
 * memory for the stack may not. */
int thread_start(void *(*run)(void *));

/* On that thread, in its outermost function: has its stack room for what a dump needs? */
bool thread_has_room(void);

/* NULL, or why that thread may not call jemalloc now: what jemalloc takes for it, the program might need. To be asked
 * before each piece of work that calls it; nothing else on that thread does. */
const char *thread_refusal(void);
