#include "snap/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/budget.h"
#include "cli/say.h"
#include "snap/openchild.h"

/* Not in every libc; the numbers are the kernel's for all architectures. */
enum { nr_pidfd_send_signal = 424, nr_pidfd_open = 434 };

struct child {
	pid_t pid;  /* 0: none */
	int pidfd;  /* -1: the kernel has none */
	int socket; /* -1: it was given up */
	int gone;   /* errno that says why: ETIMEDOUT, it did not answer in time; ECHILD, it has ended */
};

struct opener {
	struct jprof_opener functions;
	struct openchild_plan plan;
	unsigned *groups;
	unsigned timeout;
	pthread_mutex_t turn; /* a request and its reply: another thread takes files back when the program is ended */
	struct child child;
};

/* ---- the child --------------------------------------------------------------------------------------------- */

/* Whether it has ended within a while. */
static bool child_ended(const struct child *child)
{
	enum { looks = 100, look_ms = 2 };
	for (int i = 0; i < looks; i++) {
		if (waitpid(child->pid, NULL, WNOHANG))
			return true;
		poll(NULL, 0, look_ms);
	}
	return false;
}

static void child_kill(const struct child *child)
{
	if (child->pidfd >= 0)
		syscall(nr_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	else
		kill(child->pid, SIGKILL);
}

/* Ends it without waiting long: one that hangs in a file system ends when that lets it. One that is `idle` ends by
 * itself when nobody can ask it any more. */
static void child_end(struct child *child, bool idle)
{
	if (!child->pid)
		return;
	if (child->socket >= 0)
		close(child->socket);
	if (!idle || !child_ended(child)) {
		child_kill(child);
		(void)child_ended(child);
	}
	if (child->pidfd >= 0)
		close(child->pidfd);
	*child = (struct child){ .pidfd = -1, .socket = -1 };
}

/* Ends it for a reason; -1 with errno set to that. */
static int child_give_up(struct child *child, int why)
{
	child_end(child, false);
	child->gone = why;
	errno = why;
	return -1;
}

/* 0, or -1 with errno set. */
static int child_start(struct child *child, const struct openchild_plan *plan)
{
	int ends[2];
	*child = (struct child){ .pidfd = -1, .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	fflush(NULL);
	budget_pause();
	pid_t pid = fork();
	if (!pid)
		openchild_run(plan, ends[1]);
	int error = errno;
	budget_resume();
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

/* Waits until there is a reply, or it has ended: 0, or why it is to be given up. */
static int wait_reply(const struct child *child, unsigned timeout)
{
	int64_t deadline = jp_clock_ms() + timeout;
	for (int64_t left; (left = deadline - jp_clock_ms()) > 0;) {
		struct pollfd p = { .fd = child->socket, .events = POLLIN };
		int n = poll(&p, 1, (int)left);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return ECHILD;
	}
	return ETIMEDOUT;
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

/* A descriptor (0 where none was asked for), or -1 with errno set; ETIMEDOUT or ECHILD: the child was given up. */
static int receive_reply(struct opener *o, struct child *child, bool wants_fd, struct openchild_reply *reply)
{
	int fd, why = child->socket < 0 ? child->gone : wait_reply(child, o->timeout);
	if (why || !take_reply(child, reply, &fd)) {
		*reply = (struct openchild_reply){ 0 };
		return child_give_up(child, why ? why : ECHILD);
	}
	if (reply->error || (wants_fd && fd < 0)) {
		if (fd >= 0)
			close(fd);
		errno = reply->error ? reply->error : EIO;
		return -1;
	}
	return wants_fd ? fd : 0;
}

/* 0, or -1 with errno set; a child that does not take it is ended. */
static int send_request(struct opener *o, uint32_t what, const char *path, const struct stat *old)
{
	struct openchild_request r = { .what = what, .dev = old ? old->st_dev : 0, .ino = old ? old->st_ino : 0 };
	size_t len = strlen(path);
	if (len >= sizeof r.path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(r.path, path, len + 1);
	if (o->child.socket >= 0 && send(o->child.socket, &r, offsetof(struct openchild_request, path) + len + 1,
	                                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		child_give_up(&o->child, errno == EAGAIN ? ETIMEDOUT : ECHILD);
	return 0;
}

static int request(struct opener *o, uint32_t what, const char *path, const struct stat *old, struct stat *st)
{
	struct openchild_reply reply;
	pthread_mutex_lock(&o->turn);
	int fd = send_request(o, what, path, old);
	fd = fd ? fd : receive_reply(o, &o->child, !old, &reply);
	int error = errno;
	pthread_mutex_unlock(&o->turn);
	errno = error;
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
	child_end(&child, true);
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

/* ---- looking ----------------------------------------------------------------------------------------------- */

static int look_by_itself(int pid, const char *path, bool link, struct look *look)
{
	struct places places;
	int flags = link ? O_NOFOLLOW : 0;
	if (!pid)
		return look_handle(open(path, O_PATH | O_CLOEXEC | flags), look);
	places_open(&places, pid);
	int rc = look_handle(places.root < 0 ? -1 : places_resolve(&places, path, flags), look), error = errno;
	places_close(&places);
	errno = error;
	return rc;
}

static int ask_to_look(struct opener *o, const char *path, bool link, struct look *look)
{
	struct openchild_looked looked;
	if (send_request(o, link ? OPENCHILD_LOOK_AT_LINK : OPENCHILD_LOOK, path, NULL))
		return -1;
	int why = o->child.socket < 0 ? o->child.gone : wait_reply(&o->child, o->timeout);
	if (why || recv(o->child.socket, &looked, sizeof looked, MSG_DONTWAIT) != sizeof looked)
		return child_give_up(&o->child, why ? why : ECHILD);
	*look = looked.look;
	errno = looked.reply.error;
	return errno ? -1 : 0;
}

int opener_look(struct opener *o, int pid, const char *path, bool link, struct look *look)
{
	if (!o)
		return look_by_itself(pid, path, link, look);
	pthread_mutex_lock(&o->turn);
	int rc = ask_to_look(o, path, link, look), error = errno;
	pthread_mutex_unlock(&o->turn);
	errno = error;
	return rc;
}

/* ---- beginning ---------------------------------------------------------------------------------------------- */

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

static int copy_plan(struct opener *o, int pid, const struct jprof_rights *r, struct jprof_error *err)
{
	o->groups = malloc((r->group_count + 1) * sizeof *o->groups);
	if (!o->groups)
		return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	memcpy(o->groups, r->groups ? r->groups : o->groups, r->group_count * sizeof *o->groups);
	o->plan = (struct openchild_plan){ .pid = pid,
		                           .uid = r->uid,
		                           .gid = r->gid,
		                           .groups = o->groups,
		                           .group_count = r->group_count,
		                           .capabilities = capabilities_to_keep(r) };
	return 0;
}

static int start_opener(struct opener *o, int pid, struct jprof_error *err)
{
	struct openchild_reply ready;
	if (child_start(&o->child, &o->plan))
		return fail_as(err, JPROF_E_IO, "", "process %d: no child can be started to open its files: %s", pid,
		               strerror(errno));
	if (!receive_reply(o, &o->child, false, &ready))
		return 0;
	if (errno == ETIMEDOUT)
		return fail_as(err, JPROF_E_IO, "",
		               "process %d: its files cannot be looked at: its file system does not answer", pid);
	if (errno == ECHILD)
		return fail_as(
		    err, JPROF_E_IO, "",
		    "process %d: its files cannot be looked at: the process that opens them has ended; try again", pid);
	if (ready.failed_at == OPENCHILD_ROOT)
		return fail_as(
		    err, JPROF_E_IO, "",
		    "process %d: its files cannot be looked at: %s; run jprof as user %u, or as root with CAP_SYS_PTRACE",
		    pid, strerror(errno), o->plan.uid);
	return fail_as(
	    err, JPROF_E_IO, "",
	    "process %d: its files can only be opened with its own rights, and these (user %u, group %u) cannot be "
	    "taken here: %s; run jprof as that user, or as root with CAP_SETUID and CAP_SETGID",
	    pid, o->plan.uid, o->plan.gid, strerror(errno));
}

/* What the child took for the process's root was the process's: it is still there, as the same user. */
static int check_again(struct jprof_target *target, const struct openchild_plan *plan, struct jprof_error *err)
{
	struct jprof_rights now;
	int rc = jprof_target_rights(target, &now, err);
	if (!rc && now.uid != plan->uid)
		rc = fail_as(err, JPROF_E_IO, "", "process %d: has changed its user meanwhile; try again", plan->pid);
	return rc;
}

int opener_start(struct opener **out, struct jprof_target *target, const struct jprof_process *process,
                 unsigned timeout, struct jprof_error *err)
{
	struct jprof_rights rights;
	*out = NULL;
	if (geteuid() == process->uid && !own_capabilities())
		return 0;
	int rc = jprof_target_rights(target, &rights, err);
	if (rc)
		return rc;
	struct opener *o = calloc(1, sizeof *o);
	if (!o)
		return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	*o = (struct opener){ .functions = { opener_open, opener_remove, o },
		              .timeout = timeout,
		              .child = { .pidfd = -1, .socket = -1 } };
	pthread_mutex_init(&o->turn, NULL);
	rc = copy_plan(o, process->pid, &rights, err);
	rc = rc ? rc : start_opener(o, process->pid, err);
	rc = rc ? rc : check_again(target, &o->plan, err);
	if (rc) {
		opener_end(o);
		return rc;
	}
	jprof_target_use(target, &o->functions);
	*out = o;
	return 0;
}

const struct jprof_opener *opener_functions(const struct opener *o)
{
	return o ? &o->functions : NULL;
}

void opener_end(struct opener *o)
{
	if (!o)
		return;
	child_end(&o->child, true);
	free(o->groups);
	free(o);
}
