/* Signals that end the program from outside: HUP, INT, QUIT and TERM. They wait while a file has a name that is not its
 * last one, which would be left behind. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* On the calling thread they wait from now on, until ending_release. *before gets what waited before. */
void ending_hold(sigset_t *before);

/* Those that came meanwhile do their work before this returns. */
void ending_release(const sigset_t *before);

/* Whether one waits. */
bool ending_waits(void);
