#include "collect/unixsock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/below.h"
#include "collect/procfs.h"

static int new_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* A descriptor of a namespace and what became of it in a thread of its own. */
struct visit {
	int ns;
	int fd;
	int error;
};

static void *make_inside(void *context)
{
	struct visit *visit = context;
	visit->fd = setns(visit->ns, CLONE_NEWNET) ? -1 : new_unix_socket();
	visit->error = errno;
	return NULL;
}

/* A socket belongs to the network namespace of the thread that made it, for good; so a thread that ends at once
 * goes there, and the caller stays where it is. */
static int socket_inside(int ns)
{
	struct visit visit = { .ns = ns, .fd = -1 };
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, make_inside, &visit);
	if (!rc)
		rc = pthread_join(thread, NULL);
	errno = rc ? rc : visit.error == EPERM ? ENETUNREACH : visit.error;
	return rc ? -1 : visit.fd;
}

static bool same_namespace(int ns)
{
	struct stat own, other;
	return !stat("/proc/self/ns/net", &own) && !fstat(ns, &other) && own.st_ino == other.st_ino &&
	       own.st_dev == other.st_dev;
}

/* A socket in the network namespace of the process; in our own where it cannot be told. */
static int socket_in_network_of(const char *proc, int pid)
{
	char path[PATH_MAX];
	jp_proc_path(proc, pid, "ns/net", path, sizeof path);
	int jp_cleanup(jp_file_close) ns = open(path, O_RDONLY | O_CLOEXEC);
	return ns < 0 || same_namespace(ns) ? new_unix_socket() : socket_inside(ns);
}

/* What an errno of connecting means, and what to do. */
static const char *reason(int rc)
{
	switch (rc) {
	case ECONNREFUSED: return "nobody listens there any more: it has just begun another program; try again";
	case ENOENT: return "the file is gone, somebody has removed it: start the process anew";
	case EACCES:
	case EPERM:
		return "the process's own user may not reach it there: it has changed its user, or the directory's mode was changed";
	case ENETUNREACH:
		return "it is in a network of its own, as in a container, which only root may enter: run jprof as root, or in there";
	case EAGAIN: return "too many are waiting for it; try again";
	case ETIMEDOUT:
	case ECHILD: return jp_file_why(rc);
	default: return strerror(rc);
	}
}

/* One try. Its network may have gone since the last one. */
static int connect_abstract(const struct jprof_target *t, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name + 1);
	if (len > sizeof address.sun_path - 1) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path + 1, name + 1, len);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
	int fd = socket_in_network_of(t->proc, t->pid);
	if (fd < 0 || !jp_below_connect(fd, &address, size))
		return fd;
	int error = errno;
	jp_file_close(&fd);
	errno = error;
	return -1;
}

static int connect_path(const struct jprof_target *t, const char *path)
{
	struct stat st;
	int fd = jp_below_open(t, JPROF_OPEN_SOCKET, path, &st);
	if (fd < 0 && errno == EINVAL)
		errno = ENOTSOCK;
	return fd;
}

/* The agent serves one at a time, and anybody may fill its queue: a place in it is waited for. */
int jp_unixsock_connect(const struct jprof_target *t, const char *name, int64_t deadline, struct jprof_error *err)
{
	enum { pause_ms = 20 };
	for (;;) {
		int fd = *name == '@' ? connect_abstract(t, name) : connect_path(t, name);
		if (fd >= 0)
			return fd;
		if ((errno != EAGAIN && errno != EINTR) || jp_clock_ms() >= deadline)
			return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its agent cannot be reached at %s: %s",
			                t->pid, name, reason(errno));
		poll(NULL, 0, pause_ms);
	}
}

/* Waits until the socket is ready: 0, or an error with words. */
static int wait_ready(int fd, short events, int64_t deadline, const char *what, struct jprof_error *err)
{
	for (;;) {
		int64_t now = jp_clock_ms();
		if (now >= deadline)
			return jp_advise(err, JPROF_ADVICE_TIMEOUT,
			                 jp_error(err, JPROF_E_IO, NULL, 0, "%s does not answer in time", what));
		struct pollfd poll_fd = { .fd = fd, .events = events };
		int left = deadline - now > INT_MAX ? INT_MAX : (int)(deadline - now);
		int n = poll(&poll_fd, 1, left);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return jp_error(err, JPROF_E_IO, NULL, 0, "%s: %s", what, strerror(errno));
	}
}

int jp_unixsock_send(int fd, const void *data, size_t len, int64_t deadline, const char *what, struct jprof_error *err)
{
	const char *at = data;
	while (len) {
		int rc = wait_ready(fd, POLLOUT, deadline, what, err);
		if (rc)
			return rc;
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return jp_error(err, JPROF_E_IO, NULL, 0, "%s has hung up: %s", what, strerror(errno));
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* ---- what is received ------------------------------------------------------------------------------------- */

void jp_reply_release(struct jp_reply *reply)
{
	for (unsigned i = 0; i < reply->fd_count; i++)
		jp_file_close(&reply->fds[i]);
	reply->fd_count = 0;
	free(reply->line);
	reply->line = NULL;
}

/* Some bytes with all that came along. */
struct chunk {
	char text[1 << 12];
	size_t len;
	int fds[8]; /* more are closed by the kernel */
	unsigned fd_count;
	bool fds_cut;
	struct ucred from; /* pid -1: not known */
};

static void take_control(struct msghdr *message, struct chunk *chunk)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		size_t len = c->cmsg_len - CMSG_LEN(0);
		if (c->cmsg_type == SCM_RIGHTS && len <= sizeof chunk->fds) {
			memcpy(chunk->fds, CMSG_DATA(c), len);
			chunk->fd_count = (unsigned)(len / sizeof *chunk->fds);
		} else if (c->cmsg_type == SCM_CREDENTIALS && len >= sizeof chunk->from) {
			memcpy(&chunk->from, CMSG_DATA(c), sizeof chunk->from);
		}
	}
	chunk->fds_cut = message->msg_flags & MSG_CTRUNC;
}

/* Reads some more: 0, also at the end, or a code. */
static int receive_chunk(int fd, struct chunk *chunk, int64_t deadline, const char *what, struct jprof_error *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof chunk->fds) + CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr aligned;
	} control;
	for (;;) {
		int rc = wait_ready(fd, POLLIN, deadline, what, err);
		if (rc)
			return rc;
		struct iovec part = { .iov_base = chunk->text, .iov_len = sizeof chunk->text };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return jp_error(err, JPROF_E_IO, NULL, 0, "%s has hung up: %s", what, strerror(errno));
		chunk->len = (size_t)n;
		chunk->fd_count = 0;
		chunk->from.pid = -1;
		take_control(&message, chunk);
		return 0;
	}
}

/* Takes over what came beside the text. */
static int take_aside(struct chunk *chunk, bool first, const char *what, struct jp_reply *reply,
                      struct jprof_error *err)
{
	bool good = !chunk->fds_cut && chunk->fd_count <= (first ? reply->fds_wanted : 0);
	for (unsigned i = 0; i < chunk->fd_count; i++)
		if (good)
			reply->fds[reply->fd_count++] = chunk->fds[i];
		else
			close(chunk->fds[i]);
	if (!good)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s hands over descriptors that it should not", what);
	if (!first && (chunk->from.pid != reply->pid || chunk->from.uid != reply->real_uid))
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s is several processes: they answer in turns", what);
	reply->pid = chunk->from.pid;
	reply->real_uid = chunk->from.uid;
	return 0;
}

int jp_unixsock_line(int fd, size_t limit, int64_t deadline, const char *what, struct jp_reply *reply,
                     struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct chunk chunk;
	for (bool first = true;; first = false) {
		int rc = receive_chunk(fd, &chunk, deadline, what, err);
		if (rc)
			return rc;
		if (!chunk.len)
			return jp_error(err, JPROF_E_IO, NULL, 0,
			                "%s hung up without an answer: the process ended, or began another program",
			                what);
		rc = take_aside(&chunk, first, what, reply, err);
		if (rc)
			return rc;
		const char *end = memchr(chunk.text, '\n', chunk.len);
		jp_strbuf_add(&text, chunk.text, end ? (size_t)(end - chunk.text) : chunk.len);
		if (text.failed)
			return jp_error_nomem(err);
		if (text.len > limit)
			return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s answers without end", what);
		if (!end)
			continue;
		reply->line = text.text;
		text = (struct jp_strbuf){ 0 };
		return 0;
	}
}
