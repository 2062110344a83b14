/* Runs a program that is known to be harmless, to see what it says. */
#pragma once

#include <stdbool.h>

/* Runs argv[0] (a path) with exactly the environment `env`, no standard input, no core file, in "/", and waits at
 * most `seconds`; then it is ended. What it wrote to `stream` (1 or 2: standard output or error; the other is lost),
 * 64 KiB at most and without NULs, is *said: owned by the caller. *status is that of waitpid, or -1 when time was up.
 * False when it could not be started, with errno set. */
bool child_run(char *const *argv, char *const *env, int stream, int seconds, char **said, int *status);
