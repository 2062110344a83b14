#include "collect/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/textparts.h"

static const char *root_of(const struct jprof_target *t, const char *path, char to[4096])
{
	return jp_target_path_into(to, t, *path == '/' ? "root" : "cwd");
}

/* An O_PATH descriptor of the directory that a path's last component is in. */
static int hold_directory(const struct jprof_target *t, const char *path)
{
	char dir[PATH_MAX], root[4096];
	size_t len = (size_t)(jp_basename(path) - path);
	if (len >= sizeof dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dir, path, len);
	dir[len] = '\0';
	return jp_file_handle_below(root_of(t, path, root), dir);
}

static int below_failed(int error)
{
	errno = error;
	return -1;
}

/* Opens what an O_PATH descriptor stands for, if it is a regular file. */
static int open_held(int handle, struct stat *st)
{
	char held[32];
	if (handle < 0 || fstat(handle, st))
		return -1;
	if (!S_ISREG(st->st_mode))
		return below_failed(EINVAL);
	snprintf(held, sizeof held, "/proc/self/fd/%d", handle);
	return open(held, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int open_without_link(const struct jprof_target *t, const char *path, struct stat *st)
{
	int jp_cleanup(jp_file_close) dir = hold_directory(t, path);
	int jp_cleanup(jp_file_close) handle =
	    dir < 0 ? -1 : openat(dir, jp_basename(path), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return open_held(handle, st);
}

static int open_cgroup(const struct jprof_target *t, const char *path, struct stat *st)
{
	struct statfs fs;
	int fd = open_without_link(t, path, st);
	if (fd < 0 || (!fstatfs(fd, &fs) && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC)))
		return fd;
	close(fd);
	return below_failed(EINVAL);
}

static int open_directory(const struct jprof_target *t, const char *path, struct stat *st)
{
	char root[4096];
	int jp_cleanup(jp_file_close) handle = jp_file_handle_below(root_of(t, path, root), path);
	if (handle < 0 || fstat(handle, st))
		return -1;
	return S_ISDIR(st->st_mode) ? openat(handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : below_failed(EINVAL);
}

/* Who only asks now and then whether the queue has a place finds it full each time, where others ask without a pause.
 * Who waits is woken as soon as a place comes free. */
int jp_below_connect(int fd, const struct sockaddr_un *address, socklen_t len)
{
	enum { most_us = 500000 };
	const struct timeval most = { .tv_usec = most_us };
	int yes = 1;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) ||
	    connect(fd, (const struct sockaddr *)address, len))
		return -1;
	return fcntl(fd, F_SETFL, O_NONBLOCK);
}

static int connect_held(int handle)
{
	/* Paths of sockets have 107 bytes at most: this one is short, and nothing is resolved again. */
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", handle);
	if (fd >= 0 && !jp_below_connect(fd, &address, sizeof address))
		return fd;
	int error = errno;
	jp_file_close(&fd);
	return below_failed(error);
}

static int open_socket(const struct jprof_target *t, const char *path, struct stat *st)
{
	char root[4096];
	int jp_cleanup(jp_file_close) handle = jp_file_handle_below(root_of(t, path, root), path);
	if (handle < 0 || fstat(handle, st))
		return -1;
	return S_ISSOCK(st->st_mode) ? connect_held(handle) : below_failed(EINVAL);
}

static int open_mapped(const struct jprof_target *t, const char *range, struct stat *st)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%d/map_files/%s", t->proc, t->pid, range);
	return jp_file_open_untrusted((struct jp_root){ 0 }, path, st);
}

int jp_below_open(const struct jprof_target *t, enum jprof_open what, const char *path, struct stat *st)
{
	char root[4096];
	if (t->opener.open)
		return t->opener.open(t->opener.context, what, path, st);
	switch (what) {
	case JPROF_OPEN_FILE:
		return jp_file_open_untrusted((struct jp_root){ .path = root_of(t, path, root) }, path, st);
	case JPROF_OPEN_DUMP: return open_without_link(t, path, st);
	case JPROF_OPEN_CGROUP: return open_cgroup(t, path, st);
	case JPROF_OPEN_DIR: return open_directory(t, path, st);
	case JPROF_OPEN_SOCKET: return open_socket(t, path, st);
	case JPROF_OPEN_MAPPED: return open_mapped(t, path, st);
	}
	return below_failed(EINVAL);
}

int jp_below_remove(const struct jprof_target *t, const char *path, const struct stat *st)
{
	struct stat now;
	if (t->opener.remove)
		return t->opener.remove(t->opener.context, path, st);
	int jp_cleanup(jp_file_close) dir = hold_directory(t, path);
	if (dir < 0 || fstatat(dir, jp_basename(path), &now, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		return below_failed(ESTALE);
	return unlinkat(dir, jp_basename(path), 0);
}
