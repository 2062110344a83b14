#include "snap/openchild.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/confine.h"

enum {
	most_groups = 65536,
	largest_copy = 256 << 20,
};

/* What is taken before the rights are given up. */
struct child_places {
	struct places at;
	int mapped; /* O_PATH, -1: none was asked for */
	bool own_overlays;
};

static int child_failed(int error)
{
	errno = error;
	return -1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define AUTO_CLOSE __attribute__((cleanup(close_fd)))

/* ---- rights ------------------------------------------------------------------------------------------------- */

static bool has_groups(const struct openchild_plan *plan)
{
	gid_t now[most_groups];
	int n = getgroups(most_groups, now);
	return n >= 0 && (size_t)n == plan->group_count && (!n || !memcmp(now, plan->groups, (size_t)n * sizeof *now));
}

static bool has_ids(const struct openchild_plan *plan)
{
	uid_t uid[3];
	gid_t gid[3];
	return !getresuid(&uid[0], &uid[1], &uid[2]) && !getresgid(&gid[0], &gid[1], &gid[2]) && uid[0] == plan->uid &&
	       uid[1] == plan->uid && uid[2] == plan->uid && gid[0] == plan->gid && gid[1] == plan->gid &&
	       gid[2] == plan->gid;
}

/* All is read back: not every call says when it did nothing. From here on the process's user has no power over this
 * one either: it is not dumpable. */
static int take_rights(const struct openchild_plan *plan)
{
	if (!has_groups(plan) && setgroups(plan->group_count, plan->groups))
		return -1;
	if (setresgid(plan->gid, plan->gid, plan->gid) || setresuid(plan->uid, plan->uid, plan->uid) ||
	    prctl(PR_SET_DUMPABLE, 0) || confine_capabilities(plan->capabilities) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -1;
	return has_groups(plan) && has_ids(plan) && prctl(PR_GET_DUMPABLE) == 0 ? 0 : child_failed(EPERM);
}

/* ---- resolving ---------------------------------------------------------------------------------------------- */

/* The directory of a path, and what follows its last slash. */
static int resolve_parent(const struct child_places *p, const char *path, const char **base)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	*base = path + n;
	memcpy(dir, path, n);
	dir[n] = '\0';
	return places_resolve(&p->at, n ? dir : ".", O_DIRECTORY);
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* Whether the kernel alone answers for the file's contents, from this machine. An overlay of somebody's own making may
 * stand on anything. */
static bool is_local(const struct child_places *p, const struct statfs *fs)
{
	switch ((unsigned long)fs->f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case SQUASHFS_MAGIC:
	case EROFS_SUPER_MAGIC_V1:
	case ISOFS_SUPER_MAGIC:
	case MSDOS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case 0x2fc12fc1: /* ZFS */
	case 0xca451a4e: /* bcachefs */ return true;
	case OVERLAYFS_SUPER_MAGIC: return p->own_overlays;
	default: return false;
	}
}

/* 0, or -1 with errno set. */
static int copy_all(int from, int to)
{
	static char chunk[1 << 16];
	off_t at = 0;
	ssize_t n;
	while ((n = pread(from, chunk, sizeof chunk, at)) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t done = 0, w; done < n; done += w) {
			w = pwrite(to, chunk + done, (size_t)(n - done), at + done);
			if (w <= 0)
				return -1;
		}
		at += n > 0 ? n : 0;
		if (at > largest_copy)
			return child_failed(EFBIG);
	}
	return n < 0 ? -1 : 0;
}

/* A copy in memory, so that whoever reads it does not wait for a server. */
static int copy_in_memory(int fd)
{
	int memory = (int)syscall(SYS_memfd_create, "jprof", 1); /* 1: MFD_CLOEXEC */
	if (memory >= 0 && copy_all(fd, memory)) {
		int error = errno;
		close(memory);
		return child_failed(error);
	}
	return memory;
}

/* Opens for reading what an O_PATH descriptor stands for. */
static int open_regular(const struct child_places *p, int handle, struct stat *st)
{
	char held[32];
	struct statfs fs;
	if (handle < 0 || fstat(handle, st))
		return -1;
	if (!S_ISREG(st->st_mode))
		return child_failed(EINVAL);
	snprintf(held, sizeof held, "/proc/self/fd/%d", handle);
	int fd = open(held, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (!fstatfs(fd, &fs) && is_local(p, &fs)))
		return fd;
	int copy = copy_in_memory(fd), error = errno;
	close(fd);
	errno = error;
	return copy;
}

static int open_held_cgroup(const struct child_places *p, int handle, struct stat *st)
{
	struct statfs fs;
	if (handle < 0 || fstatfs(handle, &fs))
		return -1;
	bool good = fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC;
	return good ? open_regular(p, handle, st) : child_failed(EINVAL);
}

/* Who gets it may look at its files without the child. */
static int open_held_directory(const struct child_places *p, int handle, struct stat *st)
{
	struct statfs fs;
	if (handle < 0 || fstat(handle, st) || fstatfs(handle, &fs))
		return -1;
	if (!S_ISDIR(st->st_mode))
		return child_failed(EINVAL);
	return is_local(p, &fs) ? openat(handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : child_failed(ENOTSUP);
}

/* Waits for a place in the listener's queue, but not for long: somebody waits for this child. Who just asks now and
 * then finds the queue full each time, where others ask without a pause. */
static int open_held_socket(int handle, struct stat *st)
{
	enum { most_us = 500000 };
	const struct timeval most = { .tv_usec = most_us };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (handle < 0 || fstat(handle, st))
		return -1;
	if (!S_ISSOCK(st->st_mode))
		return child_failed(EINVAL);
	int yes = 1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", handle);
	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) &&
	    !connect(fd, (const struct sockaddr *)&address, sizeof address) && !fcntl(fd, F_SETFL, O_NONBLOCK))
		return fd;
	int error = errno;
	close_fd(&fd);
	return child_failed(error);
}

static int open_what(const struct child_places *p, const struct openchild_request *r, struct stat *st)
{
	int flags = r->what == JPROF_OPEN_DUMP || r->what == JPROF_OPEN_CGROUP ? O_NOFOLLOW : 0;
	int AUTO_CLOSE handle = places_resolve(&p->at, r->path, flags);
	switch (r->what) {
	case JPROF_OPEN_FILE:
	case JPROF_OPEN_DUMP: return open_regular(p, handle, st);
	case JPROF_OPEN_CGROUP: return open_held_cgroup(p, handle, st);
	case JPROF_OPEN_DIR: return open_held_directory(p, handle, st);
	case JPROF_OPEN_SOCKET: return open_held_socket(handle, st);
	default: return child_failed(EINVAL);
	}
}

static int remove_same(const struct child_places *p, const struct openchild_request *r)
{
	const char *base;
	struct stat now;
	int AUTO_CLOSE dir = resolve_parent(p, r->path, &base);
	if (dir < 0 || fstatat(dir, base, &now, AT_SYMLINK_NOFOLLOW))
		return -1;
	return now.st_dev == r->dev && now.st_ino == r->ino ? unlinkat(dir, base, 0) : child_failed(ESTALE);
}

/* ---- serving ---------------------------------------------------------------------------------------------------- */

static void send_reply(int socket, const struct openchild_reply *reply, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof fd)];
		struct cmsghdr header;
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)reply, .iov_len = sizeof *reply };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			                           .cmsg_type = SCM_RIGHTS,
			                           .cmsg_len = CMSG_LEN(sizeof fd) };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	}
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* A look comes as it is: no descriptor goes with it. */
static void answer_look(const struct child_places *p, const struct openchild_request *r, int socket)
{
	static struct openchild_looked looked;
	looked.reply = (struct openchild_reply){ 0 };
	if (look_handle(places_resolve(&p->at, r->path, r->what == OPENCHILD_LOOK_AT_LINK ? O_NOFOLLOW : 0),
	                &looked.look))
		looked.reply.error = errno;
	if (send(socket, &looked, sizeof looked, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void serve(const struct child_places *p, int socket)
{
	static struct openchild_request request;
	ssize_t n;
	while ((n = recv(socket, &request, sizeof request, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n <= (ssize_t)offsetof(struct openchild_request, path) ||
		    ((char *)&request)[n - 1]) /* cut: not by us */
			continue;
		if (request.what == OPENCHILD_LOOK || request.what == OPENCHILD_LOOK_AT_LINK) {
			answer_look(p, &request, socket);
			continue;
		}
		struct openchild_reply reply = { 0 };
		int AUTO_CLOSE fd = -1;
		int rc = request.what == OPENCHILD_REMOVE ? remove_same(p, &request)
		                                          : (fd = open_what(p, &request, &reply.st));
		reply.error = rc < 0 ? errno : 0;
		send_reply(socket, &reply, fd);
	}
}

/* ---- beginning ---------------------------------------------------------------------------------------------- */

/* A signal that ends the program lets it finish or take back what it does: so long the child is needed. */
static void leave_signals_to_parent(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_IGN);
}

static bool shares_user_namespace(int pid)
{
	char path[64];
	struct stat own, other;
	snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
	return !stat("/proc/self/ns/user", &own) && !stat(path, &other) && own.st_ino == other.st_ino &&
	       own.st_dev == other.st_dev;
}

/* With the caller's rights: to see these at all takes some that the process may not have. */
static int take_places(const struct openchild_plan *plan, struct child_places *p)
{
	char mapped[128];
	*p = (struct child_places){ { -1, -1 }, .mapped = -1, .own_overlays = shares_user_namespace(plan->pid) };
	if (plan->mapped) {
		snprintf(mapped, sizeof mapped, "/proc/%d/map_files/%s", plan->pid, plan->mapped);
		p->mapped = open(mapped, O_PATH | O_CLOEXEC);
		return p->mapped < 0 ? -1 : 0;
	}
	places_open(&p->at, plan->pid);
	return p->at.root < 0 ? -1 : 0;
}

_Noreturn void openchild_run(const struct openchild_plan *plan, int socket)
{
	struct child_places taken;
	struct openchild_reply ready = { .failed_at = OPENCHILD_ROOT };
	int AUTO_CLOSE fd = -1;
	for (int other = 0; other < socket; other++)
		close(other);
	confine_close_above(socket);
	leave_signals_to_parent();
	bool good = !take_places(plan, &taken);
	if (good) {
		ready.failed_at = OPENCHILD_RIGHTS;
		good = !take_rights(plan);
	}
	if (good && plan->mapped) {
		fd = open_regular(&taken, taken.mapped, &ready.st);
		good = fd >= 0;
	}
	ready.error = good ? 0 : errno;
	send_reply(socket, &ready, fd);
	if (good && !plan->mapped)
		serve(&taken, socket);
	_exit(0);
}
