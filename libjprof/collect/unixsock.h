/* Connecting to a unix socket of another process, wherever its mounts and its network lie. */
#pragma once

#include "collect/target.h"

/* A non-blocking, close-on-exec stream connected to `name` as the process sees it: an absolute path, which is resolved
 * below its root and only taken if it is a socket there, or "@NAME" in the abstract namespace of its network. It shows
 * who speaks. Where too many wait there already, it waits until `deadline` (jp_clock_ms) for a place. A descriptor, or
 * a negative code with *err set. */
int jp_unixsock_connect(const struct jprof_target *target, const char *name, int64_t deadline, struct jprof_error *err);

enum { jp_reply_fds = 4 };

/* What came: a line, and descriptors with its first byte. */
struct jp_reply {
	char *line; /* without its newline */
	int fds[jp_reply_fds];
	unsigned fd_count, fds_wanted; /* the latter by the caller: more are refused */
	int pid; /* of who wrote it, by the kernel's word: 0 where it has no number here; -1: not known */
	unsigned real_uid;
};
void jp_reply_release(struct jp_reply *reply);

/* Sends all, or reads a line. At most until `deadline` (jp_clock_ms). A line of more than `limit` bytes, an end before
 * its newline, parts of it by different processes, more descriptors than wanted or later than the first byte, or the
 * time being over is an error, with `what` in its words: "the agent of 4711". *reply, which is zero before but for
 * fds_wanted, is to be released even then. */
int jp_unixsock_send(int fd, const void *data, size_t len, int64_t deadline, const char *what, struct jprof_error *err);
int jp_unixsock_line(int fd, size_t limit, int64_t deadline, const char *what, struct jp_reply *reply,
                     struct jprof_error *err);
