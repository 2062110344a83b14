/* The line in /proc/PID/maps by which an agent is found. */
#pragma once

#include <stdbool.h>

/* The longest SOCKET that the name of a memfd has room for. */
enum { ANNOUNCE_SOCKET_MAX = 220 };

/* Maps a page of a memfd called jprof-agent:VERSION:SIGNAL:SOCKET, in place of the last one. Where the kernel
 * or seccomp refuses, there is none; returns 0 or an errno. The page does not go on to children by fork. */
int announce(int signo, const char *socket);

/* Says on standard error, once for a process and its children, why this process cannot be found, or not be asked: the
 * kernel or seccomp denies what that needs. */
void announce_check(bool socket);

/* In a forked child, which has no such page. */
void announce_forked(void);
