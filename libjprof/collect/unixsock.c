#include "collect/unixsock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/procfs.h"

uint64_t jp_clock_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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
	visit->fd = setns(visit->ns, CLONE_NEWNET) ? -1 : new_socket();
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
	errno = rc ? rc : visit.error;
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
	return ns < 0 || same_namespace(ns) ? new_socket() : socket_inside(ns);
}

/* What an errno of connecting means, and what to do. */
static const char *reason(int rc)
{
	switch (rc) {
	case ECONNREFUSED: return "nobody listens there any more: it has just begun another program; try again";
	case ENOENT: return "the file is gone, somebody has removed it: start the process anew";
	case EACCES:
	case EPERM: return "no permission: run jprof as the process's user, or as root with CAP_SYS_PTRACE";
	case EAGAIN: return "too many are waiting for it; try again";
	default: return strerror(rc);
	}
}

static int fail(int rc, int pid, const char *name, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its agent cannot be reached at %s: %s", pid, name,
	                reason(rc));
}

/* Connects *fd, closing it where that fails. A full backlog (EAGAIN) is waited for: the agent serves one at a
 * time. */
static int connect_to(int *fd, const struct sockaddr_un *address, socklen_t len, int pid, const char *name,
                      struct jprof_error *err)
{
	enum { tries = 100, pause_ms = 20 };
	int rc = -1;
	for (int i = 0; rc && i < tries; i++) {
		rc = connect(*fd, (const struct sockaddr *)address, len);
		if (!rc || (errno != EAGAIN && errno != EINTR))
			break;
		poll(NULL, 0, pause_ms);
	}
	int why = errno;
	if (!rc)
		return 0;
	jp_file_close(fd);
	return fail(why, pid, name, err);
}

static int connect_abstract(const char *proc, int pid, const char *name, struct jprof_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name + 1);
	if (len > sizeof address.sun_path - 1)
		return fail(ENAMETOOLONG, pid, name, err);
	memcpy(address.sun_path + 1, name + 1, len);
	int fd = socket_in_network_of(proc, pid);
	if (fd < 0)
		return fail(errno, pid, name, err);
	int rc =
	    connect_to(&fd, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len), pid, name, err);
	return rc ? rc : fd;
}

static int connect_path(const char *proc, int pid, const char *name, struct jprof_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char root[PATH_MAX];
	struct stat st;
	jp_proc_path(proc, pid, "root", root, sizeof root);
	int jp_cleanup(jp_file_close) handle = jp_file_handle_below(root, name);
	if (handle < 0 || fstat(handle, &st))
		return fail(errno, pid, name, err);
	if (!S_ISSOCK(st.st_mode))
		return fail(ENOTSOCK, pid, name, err);
	/* Paths of sockets have 107 bytes at most: this one is short, and nothing is resolved again. */
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", handle);
	int fd = new_socket();
	if (fd < 0)
		return fail(errno, pid, name, err);
	int rc = connect_to(&fd, &address, sizeof address, pid, name, err);
	return rc ? rc : fd;
}

int jp_unixsock_connect(const char *proc, int pid, const char *name, struct jprof_error *err)
{
	return *name == '@' ? connect_abstract(proc, pid, name, err) : connect_path(proc, pid, name, err);
}

/* Waits until the socket is ready: 0, or an error with words. */
static int wait_for(int fd, short events, uint64_t deadline, const char *what, struct jprof_error *err)
{
	for (;;) {
		uint64_t now = jp_clock_ms();
		if (now >= deadline)
			return jp_error(err, JPROF_E_IO, NULL, 0,
			                "%s does not answer in time; give more with --timeout", what);
		struct pollfd poll_fd = { .fd = fd, .events = events };
		int left = deadline - now > INT_MAX ? INT_MAX : (int)(deadline - now);
		int n = poll(&poll_fd, 1, left);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return jp_error(err, JPROF_E_IO, NULL, 0, "%s: %s", what, strerror(errno));
	}
}

int jp_unixsock_send(int fd, const void *data, size_t len, uint64_t deadline, const char *what, struct jprof_error *err)
{
	const char *at = data;
	while (len) {
		int rc = wait_for(fd, POLLOUT, deadline, what, err);
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

/* Reads some more: the number of bytes, 0 at the end, or a code. */
static ssize_t receive(int fd, char *chunk, size_t size, uint64_t deadline, const char *what, struct jprof_error *err)
{
	for (;;) {
		int rc = wait_for(fd, POLLIN, deadline, what, err);
		if (rc)
			return rc;
		ssize_t n = recv(fd, chunk, size, 0);
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return jp_error(err, JPROF_E_IO, NULL, 0, "%s has hung up: %s", what, strerror(errno));
	}
}

int jp_unixsock_line(int fd, size_t limit, uint64_t deadline, const char *what, char **line, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	char chunk[1 << 12];
	for (;;) {
		ssize_t n = receive(fd, chunk, sizeof chunk, deadline, what, err);
		if (n < 0)
			return (int)n;
		if (!n)
			return jp_error(err, JPROF_E_IO, NULL, 0,
			                "%s hung up without an answer: the process ended, or began another program",
			                what);
		const char *end = memchr(chunk, '\n', (size_t)n);
		jp_strbuf_add(&text, chunk, end ? (size_t)(end - chunk) : (size_t)n);
		if (text.failed)
			return jp_error_nomem(err);
		if (text.len > limit)
			return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s answers without end", what);
		if (!end)
			continue;
		*line = text.text;
		text = (struct jp_strbuf){ 0 };
		return 0;
	}
}
