#include "cli/rootpath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	nr_openat2 = 437, /* not in every libc; the number is the kernel's for all architectures */
	retries = 16,
};

static int place_failed(int error)
{
	errno = error;
	return -1;
}

/* Without openat2: component by component, and no link is followed. */
static int walk(int base, const char *path)
{
	char name[NAME_MAX + 1];
	int at = openat(base, ".", O_PATH | O_CLOEXEC);
	for (path += strspn(path, "/"); at >= 0 && *path; path += strspn(path, "/")) {
		size_t n = strcspn(path, "/");
		if (n > NAME_MAX || (n == 2 && !strncmp(path, "..", n))) {
			close(at);
			return place_failed(n > NAME_MAX ? ENAMETOOLONG : ELOOP);
		}
		memcpy(name, path, n);
		name[n] = '\0';
		path += n;
		int next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		int error = errno;
		close(at);
		at = next;
		errno = error;
	}
	return at;
}

int rootpath_resolve(int base, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd, left = retries; /* something was renamed on the way: EAGAIN */
	do
		fd = (int)syscall(nr_openat2, base, path, &how, sizeof how);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR) && --left);
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? walk(base, path) : fd;
}

int rootpath_open(int root, const char *path)
{
	char held[32];
	struct stat st;
	int handle = rootpath_resolve(root, path, 0), fd = -1;
	if (handle < 0)
		return -1;
	snprintf(held, sizeof held, "/proc/self/fd/%d", handle);
	if (!fstat(handle, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		fd = open(held, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(handle);
	return fd;
}
