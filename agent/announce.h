/* The line in /proc/PID/maps by which an agent is found. */
#ifndef AGENT_ANNOUNCE_H
#define AGENT_ANNOUNCE_H

/* The longest SOCKET that the name of a memfd has room for. */
enum { ANNOUNCE_SOCKET_MAX = 220 };

/* Maps a page of a memfd called jprof-agent:VERSION:SIGNAL:SOCKET, in place of the last one. Where the kernel
 * or seccomp refuses, there is none; returns 0 or an errno. The page does not go on to children by fork. */
int announce(int signo, const char *socket);

/* In a forked child, which has no such page. */
void announce_forked(void);

#endif
