#include "snap/places.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

int places_resolve(const struct places *p, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int base = *path == '/' ? p->root : p->cwd, fd;
	int left = retries; /* something was renamed on the way: EAGAIN */
	do
		fd = (int)syscall(nr_openat2, base, path, &how, sizeof how);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR) && --left);
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? walk(base, path) : fd;
}

static int fill_look(int fd, struct look *look)
{
	char held[32];
	*look = (struct look){ 0 };
	snprintf(held, sizeof held, "/proc/self/fd/%d", fd);
	if (fd < 0 || fstat(fd, &look->st) || fstatvfs(fd, &look->room))
		return -1;
	if (S_ISDIR(look->st.st_mode))
		look->may_write = !access(held, W_OK | X_OK);
	if (S_ISLNK(look->st.st_mode)) {
		ssize_t n = readlinkat(fd, "", look->link, sizeof look->link - 1);
		look->link[n > 0 ? n : 0] = '\0';
	}
	return 0;
}

int look_handle(int fd, struct look *look)
{
	int rc = fill_look(fd, look), error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return rc;
}

static int open_place(int pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void places_open(struct places *p, int pid)
{
	p->cwd = open_place(pid, "cwd");
	p->root = open_place(pid, "root");
}

void places_close(struct places *p)
{
	if (p->root >= 0)
		close(p->root);
	if (p->cwd >= 0)
		close(p->cwd);
	*p = (struct places){ -1, -1 };
}
