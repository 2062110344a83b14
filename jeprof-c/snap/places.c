#include "snap/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/rootpath.h"

int places_resolve(const struct places *p, const char *path, int flags)
{
	return rootpath_resolve(*path == '/' ? p->root : p->cwd, path, flags);
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
