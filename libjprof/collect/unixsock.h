/* Connecting to a unix socket of another process, wherever its mounts and its network lie. */
#ifndef JP_COLLECT_UNIXSOCK_H
#define JP_COLLECT_UNIXSOCK_H

#include "jprof.h"

/* A non-blocking, close-on-exec stream connected to `name` as the process PID sees it: an absolute path, which
 * is resolved below PROC/PID/root and only taken if it is a socket there, or "@NAME" in the abstract namespace
 * of its network. A descriptor, or a negative code with *err set. */
int jp_unixsock_connect(const char *proc, int pid, const char *name, struct jprof_error *err);

/* Sends all, or reads a line without its newline into memory that the caller frees. At most until `deadline`
 * (jp_clock_ms). A line of more than `limit` bytes, an end before its newline, or the time being over is an
 * error, with `what` in its words: "the agent of 4711". */
int jp_unixsock_send(int fd, const void *data, size_t len, uint64_t deadline, const char *what,
                     struct jprof_error *err);
int jp_unixsock_line(int fd, size_t limit, uint64_t deadline, const char *what, char **line, struct jprof_error *err);

/* Milliseconds of a clock that never goes back. */
uint64_t jp_clock_ms(void);

#endif
