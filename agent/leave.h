/* The end of a process: its socket goes, and the agent's thread serves no more. Nobody who exits waits for a file
 * system that does not answer. */
#pragma once

#include <stdbool.h>

/* The agent's thread serves between these two. Once the process ends, the first takes the socket's file away, and does
 * not return. */
void leave_serve(void);
void leave_served(void);

/* On a thread that exits: does the agent's thread stand aside, so that this one may serve, until leave_served()? A dump
 * that jemalloc is writing is waited for, 10 s at most; else 50 ms. */
bool leave_stand_in(void);

/* On a thread that exits: has the agent's thread take the socket's file away. Waits for that, 50 ms at most where the
 * file system does not answer. Then the next agent in that directory takes it away. */
void leave(void);

/* In a forked child. */
void leave_forked(void);
