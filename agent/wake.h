/* The signal that asks for a dump, and the pipe that wakes the agent's thread. A pipe, not an eventfd: its
 * inode tells it from another file that has got its number (handle.h), and it can be opened by /proc. */
#pragma once

#include <stdbool.h>

/* Installs the handler if the program has none and the signal's default stands. Returns the signal, or 0. */
int signal_install(int signo);

/* Installs one that says once on stderr that there is no profiling, `why`, instead of letting the signal kill. */
void signal_install_refusal(int signo, const char *why);

/* Is the handler of `signo` the agent's, at this moment? */
bool signal_owned(int signo);

/* Opens the pipe of this process, anew where it was lost. */
bool wake_open(void);

/* On the agent's thread: can it not be woken any more? */
bool wake_lost(void);

/* On the agent's thread: gives it descriptors of its own (handle.h), the pipe among them, anew where it was lost. */
void wake_part(void);

/* Wakes the thread without asking for anything. Async-signal-safe. */
void wake(void);

/* In a forked child: what its parent was asked for is not its own; signals count from here on, without a pipe, too. */
void wake_forked(void);

/* Has there been a signal that wake_drain() has not told yet? */
bool wake_asked(void);

/* Empties the pipe. */
void wake_empty(void);

/* Empties the pipe. Were there signals? Those that came since the last call count as one. */
bool wake_drain(void);
