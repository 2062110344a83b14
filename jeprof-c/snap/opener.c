#include "snap/opener.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/say.h"
#include "snap/openchild.h"

/* Not in every libc; the numbers are the kernel's for all architectures. */
enum { nr_pidfd_send_signal = 424, nr_pidfd_open = 434 };

struct child {
	pid_t pid;  /* 0: none */
	int pidfd;  /* -1: the kernel has none */
	int socket; /* -1: it was given up */
};

struct opener {
	struct jprof_opener functions;
	struct openchild_plan plan;
	unsigned *groups;
	unsigned timeout;
	struct child child;
};

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ---- the child --------------------------------------------------------------------------------------------- */

/* Ends it without waiting long: one that hangs in a file system ends when that lets it. It has nothing to finish. */
static void child_end(struct child *child)
{
	enum { looks = 100, look_ms = 2 };
	if (!child->pid)
		return;
	if (child->socket >= 0)
		close(child->socket);
	if (child->pidfd >= 0)
		syscall(nr_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	else if (!waitpid(child->pid, NULL, WNOHANG))
		kill(child->pid, SIGKILL);
	for (int i = 0; i < looks && !waitpid(child->pid, NULL, WNOHANG); i++)
		poll(NULL, 0, look_ms);
	if (child->pidfd >= 0)
		close(child->pidfd);
	*child = (struct child){ .pidfd = -1, .socket = -1 };
}

/* 0, or -1 with errno set. */
static int child_start(struct child *child, const struct openchild_plan *plan)
{
	int ends[2];
	*child = (struct child){ .pidfd = -1, .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid)
		openchild_run(plan, ends[1]);
	int error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		errno = error;
		return -1;
	}
	*child = (struct child){ .pid = pid, .pidfd = (int)syscall(nr_pidfd_open, pid, 0), .socket = ends[0] };
	return 0;
}

/* ---- talking to it --------------------------------------------------------------------------------------------- */

/* Waits for a reply: 1; 0 when time is up or it has ended. */
static int wait_reply(const struct child *child, unsigned timeout)
{
	long long deadline = now_ms() + timeout;
	for (long long left; (left = deadline - now_ms()) > 0;) {
		struct pollfd p = { .fd = child->socket, .events = POLLIN };
		int n = poll(&p, 1, (int)left);
		if (n > 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return 0;
	}
	return 0;
}

/* The reply, and its descriptor or -1. False where there is none. */
static bool take_reply(const struct child *child, struct openchild_reply *reply, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof *fd)];
		struct cmsghdr header;
	} control;
	struct iovec part = { .iov_base = reply, .iov_len = sizeof *reply };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof control.bytes;
	ssize_t n = recvmsg(child->socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	*fd = -1;
	struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *fd))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	if (n == sizeof *reply)
		return true;
	if (*fd >= 0)
		close(*fd);
	return false;
}

/* A descriptor (0 where none was asked for), or -1 with errno set; ETIMEDOUT: the child was given up. */
static int receive_reply(struct opener *o, struct child *child, bool wants_fd, struct openchild_reply *reply)
{
	int fd;
	if (child->socket < 0 || !wait_reply(child, o->timeout) || !take_reply(child, reply, &fd)) {
		child_end(child);
		*reply = (struct openchild_reply){ 0 };
		errno = ETIMEDOUT;
		return -1;
	}
	if (reply->error || (wants_fd && fd < 0)) {
		if (fd >= 0)
			close(fd);
		errno = reply->error ? reply->error : EIO;
		return -1;
	}
	return wants_fd ? fd : 0;
}

static int request(struct opener *o, uint32_t what, const char *path, const struct stat *old, struct stat *st)
{
	struct openchild_request r = { .what = what, .dev = old ? old->st_dev : 0, .ino = old ? old->st_ino : 0 };
	struct openchild_reply reply;
	size_t len = strlen(path);
	if (len >= sizeof r.path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(r.path, path, len + 1);
	if (o->child.socket >= 0 && send(o->child.socket, &r, offsetof(struct openchild_request, path) + len + 1,
	                                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		child_end(&o->child);
	int fd = receive_reply(o, &o->child, !old, &reply);
	if (fd >= 0 && st)
		*st = reply.st;
	return fd;
}

/* A file that only root may find gets a child of its own: it finds it as root, and opens it as the process would. */
static int open_by_range(struct opener *o, const char *range, struct stat *st)
{
	struct openchild_plan plan = o->plan;
	struct openchild_reply reply;
	struct child child;
	if (range[strspn(range, "0123456789abcdef-")]) {
		errno = EINVAL;
		return -1;
	}
	plan.mapped = range;
	if (child_start(&child, &plan))
		return -1;
	int fd = receive_reply(o, &child, true, &reply), error = errno;
	*st = reply.st;
	child_end(&child);
	errno = error;
	return fd;
}

static int opener_open(void *context, enum jprof_open what, const char *path, struct stat *st)
{
	struct opener *o = context;
	return what == JPROF_OPEN_MAPPED ? open_by_range(o, path, st) : request(o, what, path, NULL, st);
}

static int opener_remove(void *context, const char *path, const struct stat *st)
{
	return request(context, OPENCHILD_REMOVE, path, st, NULL);
}

/* ---- beginning ------------------------------------------------------------------------------------------------------
 */

static uint64_t own_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	if (syscall(SYS_capget, &header, data))
		return ~0ULL;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* Of what the process may by itself only that is kept which opening and removing files takes; and only of root, for a
 * program with capabilities of its own may have been begun a moment ago. */
static uint64_t capabilities_to_keep(const struct jprof_rights *r)
{
	const uint64_t wanted = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_FOWNER;
	return r->uid || r->real_uid ? 0 : wanted & r->capabilities & own_capabilities();
}

static bool copy_plan(struct opener *o, int pid, const struct jprof_rights *r)
{
	o->groups = malloc((r->group_count + 1) * sizeof *o->groups);
	if (!o->groups) {
		say("memory is short");
		return false;
	}
	memcpy(o->groups, r->groups ? r->groups : o->groups, r->group_count * sizeof *o->groups);
	o->plan = (struct openchild_plan){ .pid = pid,
		                           .uid = r->uid,
		                           .gid = r->gid,
		                           .groups = o->groups,
		                           .group_count = r->group_count,
		                           .capabilities = capabilities_to_keep(r) };
	return true;
}

static bool start_opener(struct opener *o, int pid)
{
	struct openchild_reply ready;
	if (child_start(&o->child, &o->plan)) {
		say("process %d: no child can be started to open its files: %s", pid, strerror(errno));
		return false;
	}
	if (!receive_reply(o, &o->child, false, &ready))
		return true;
	if (errno == ETIMEDOUT)
		say("process %d: its files cannot be looked at: its file system does not answer", pid);
	else if (ready.failed_at == OPENCHILD_ROOT)
		say("process %d: its files cannot be looked at: %s; run jprof as user %u, or as root with CAP_SYS_PTRACE",
		    pid, strerror(errno), o->plan.uid);
	else
		say("process %d: its files can only be opened with its own rights, and these (user %u, group %u) cannot be "
		    "taken here: %s; run jprof as that user, or as root with CAP_SETUID and CAP_SETGID",
		    pid, o->plan.uid, o->plan.gid, strerror(errno));
	return false;
}

/* What the child took for the process's root was the process's: it is still there, as the same user. */
static bool check_again(struct jprof_target *target, const struct openchild_plan *plan)
{
	struct jprof_rights now;
	struct jprof_error err;
	if (jprof_target_rights(target, &now, &err)) {
		say_error(&err);
		return false;
	}
	return now.uid == plan->uid;
}

bool opener_start(struct opener **out, struct jprof_target *target, const struct jprof_process *process,
                  unsigned timeout)
{
	struct jprof_rights rights;
	struct jprof_error err;
	*out = NULL;
	if (geteuid() == process->uid && !own_capabilities())
		return true;
	if (jprof_target_rights(target, &rights, &err)) {
		say_error(&err);
		return false;
	}
	struct opener *o = calloc(1, sizeof *o);
	if (!o) {
		say("memory is short");
		return false;
	}
	*o = (struct opener){ .functions = { opener_open, opener_remove, o },
		              .timeout = timeout,
		              .child = { .pidfd = -1, .socket = -1 } };
	if (!copy_plan(o, process->pid, &rights) || !start_opener(o, process->pid) || !check_again(target, &o->plan)) {
		opener_end(o);
		return false;
	}
	jprof_target_use(target, &o->functions);
	*out = o;
	return true;
}

const struct jprof_opener *opener_functions(const struct opener *o)
{
	return o ? &o->functions : NULL;
}

void opener_end(struct opener *o)
{
	if (!o)
		return;
	child_end(&o->child);
	free(o->groups);
	free(o);
}
