/* Signals that end the program (INT, TERM, HUP) while it deals with processes: what it does is finished or taken back
 * within a second, whatever it waits for. */
#pragma once

#include <stdbool.h>

/* From now on such a signal makes interrupted() true. Where the program has not ended soon after by itself, a thread
 * calls `take_back`, with the hold of interrupt_hold, and ends it with status 1. A second signal ends it at once. */
void interrupt_catch(void (*take_back)(void));

/* What was asked for is done, and what goes on is more of it: from now on that status is 0. */
void interrupt_is_success(void);

/* Before interrupt_catch: what that second signal does before it ends the program, and SIGQUIT the first time. In the
 * handler of the signal, so `end` is async-signal-safe. */
void interrupt_at_once(void (*end)(void));

bool interrupted(void);

/* Between the two nothing is taken back: it is that which `take_back` looks at, or what decides whether it is done.
 * May be nested. Without waiting for files or processes. */
void interrupt_hold(void);
void interrupt_release(void);
