#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

enum { read_chunk = 1 << 14, max_links = 40 };

void jp_file_close(int *fd)
{
	int error = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = error;
}

bool jp_file_is_absent(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EPERM:
	case EINVAL: /* not a regular file */
	case ELOOP:
	case ENAMETOOLONG:
	case ENXIO:
	case ENODEV:
	case ESTALE:
	case ESRCH: return true; /* the process has ended */
	default: return false;
	}
}

const char *jp_file_why(int error)
{
	switch (error) {
	case EINVAL: return "it is not a regular file";
	case ETIMEDOUT: return "its file system does not answer";
	case EFBIG: return "it is too large for a file system that may hang";
	case ECHILD: return "the process that opens files has ended";
	default: return strerror(error);
	}
}

void jp_unread_add(struct jp_unread *unread, const char *path, const char *why)
{
	if (!unread || unread->count++)
		return;
	snprintf(unread->path, sizeof unread->path, "%s", path);
	snprintf(unread->why, sizeof unread->why, "%s", why);
}

static int check_kind(const char *path, const struct stat *st, struct jprof_error *err)
{
	if (S_ISDIR(st->st_mode))
		return jp_error(err, JPROF_E_IO, path, 0, "is a directory; name a file in it");
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))
		return jp_error(err, JPROF_E_IO, path, 0, "is neither a file nor a pipe");
	return 0;
}

static int refuse_size(const char *path, size_t most, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_FORMAT, path, 0, "is larger than the %zu MiB that such a file may have",
	                most >> 20);
}

static int read_to_end(int fd, const char *path, size_t most, struct jp_strbuf *out, off_t size,
                       struct jprof_error *err)
{
	char chunk[read_chunk];
	if (size > 0 && (uint64_t)size > most)
		return refuse_size(path, most, err);
	if (size > 0 && !out->failed) {
		char *room = malloc((size_t)size + 1);
		if (!room)
			return jp_error_nomem(err);
		*out = (struct jp_strbuf){ .text = room, .cap = (size_t)size + 1 };
	}
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return jp_error(err, JPROF_E_IO, path, 0, "cannot be read: %s", strerror(errno));
		jp_strbuf_add(out, chunk, (size_t)n);
		if (out->failed)
			return jp_error_nomem(err);
		if (!n)
			return 0;
		if (out->len > most)
			return refuse_size(path, most, err);
	}
}

int jp_file_open(const char *path, int *out, struct stat *st, struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) fd = -1;
	if (!strcmp(path, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, st))
		return jp_error(err, JPROF_E_IO, *path ? path : "\"\"", 0, "cannot be opened: %s", strerror(errno));
	int rc = check_kind(path, st, err);
	if (rc)
		return rc;
	*out = fd;
	fd = -1;
	return 0;
}

static int read_named(const char *path, size_t most, struct jp_strbuf *out, struct stat *st, struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) fd = -1;
	int rc = jp_file_open(path, &fd, st, err);
	return rc ? rc : read_to_end(fd, path, most, out, S_ISREG(st->st_mode) ? st->st_size : 0, err);
}

int jp_file_read(const char *path, struct jp_strbuf *out, struct stat *st, struct jprof_error *err)
{
	struct stat own;
	return read_named(path, SIZE_MAX / 2, out, st ? st : &own, err);
}

int jp_file_read_most(const char *path, size_t most, struct jp_strbuf *out, struct jprof_error *err)
{
	struct stat st;
	return read_named(path, most, out, &st, err);
}

/* The path that is left to walk below a root, and how far the walk has come. */
struct path_walk {
	int dir;             /* where the walk stands, an O_PATH descriptor */
	char rest[PATH_MAX]; /* what is still to be walked */
	int links;           /* symbolic links followed */
};

/* Takes the first component off walk->rest: 1, or 0 at the end, or -1 with errno set. */
static int next_component(struct path_walk *walk, char name[static NAME_MAX + 1])
{
	char *p = walk->rest + strspn(walk->rest, "/");
	size_t n = strcspn(p, "/");
	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(walk->rest, p + n, strlen(p + n) + 1);
	return n > 0;
}

/* Puts the link's target in front of what is left; an absolute one starts again at the root. */
static int follow_link(struct path_walk *walk, int link, const char *root)
{
	char target[PATH_MAX], joined[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);
	if (n <= 0 || ++walk->links > max_links) {
		errno = n < 0 ? errno : ELOOP;
		return -1;
	}
	target[n] = '\0';
	if ((size_t)snprintf(joined, sizeof joined, "%s/%s", target, walk->rest) >= sizeof joined) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(walk->rest, joined, strlen(joined) + 1);
	if (*target == '/') {
		jp_file_close(&walk->dir);
		walk->dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return walk->dir < 0 ? -1 : 0;
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;
	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* One step of the walk: into a directory, along a link, or up, but never above the root. */
static int walk_step(struct path_walk *walk, const char *root, const char *name)
{
	if (!strcmp(name, "..")) {
		int jp_cleanup(jp_file_close) top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (top < 0 || same_file(top, walk->dir))
			return top < 0 ? -1 : 0;
	}
	int jp_cleanup(jp_file_close) next = openat(walk->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (next < 0 || fstat(next, &st))
		return -1;
	if (S_ISLNK(st.st_mode))
		return follow_link(walk, next, root);
	jp_file_close(&walk->dir);
	walk->dir = next;
	next = -1;
	return 0;
}

int jp_file_handle_below(const char *root, const char *path)
{
	struct path_walk walk = { .dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	char name[NAME_MAX + 1];
	if (walk.dir < 0)
		return -1;
	if ((size_t)snprintf(walk.rest, sizeof walk.rest, "%s", path) >= sizeof walk.rest) {
		jp_file_close(&walk.dir);
		errno = ENAMETOOLONG;
	}
	int more = 1;
	while (walk.dir >= 0 && more) {
		more = next_component(&walk, name);
		if (more < 0 || (more && walk_step(&walk, root, name)))
			jp_file_close(&walk.dir);
	}
	return walk.dir;
}

int jp_file_reopen(int handle)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
	return open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int open_below(struct jp_root root, const char *path, struct stat *st)
{
	if (root.opener && root.mapped)
		return root.opener->open(root.opener->context, JPROF_OPEN_MAPPED, strrchr(path, '/') + 1, st);
	if (root.opener)
		return root.opener->open(root.opener->context, JPROF_OPEN_FILE, path, st);
	int jp_cleanup(jp_file_close) handle =
	    root.path ? jp_file_handle_below(root.path, path) : open(path, O_PATH | O_CLOEXEC);
	if (handle < 0 || fstat(handle, st))
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return jp_file_reopen(handle);
}

int jp_file_open_untrusted(struct jp_root root, const char *path, struct stat *st)
{
	int fd = open_below(root, path, st);
	if (fd >= 0 && root.notice)
		root.notice->opened(root.notice->context, st);
	return fd;
}

static bool read_link(const char *link, char *path)
{
	ssize_t n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0 || *path != '/')
		return false;
	path[n] = '\0';
	return true;
}

static bool read_fd_link(int fd, char *path)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return read_link(link, path);
}

static bool real_root(struct jp_root root, char *path)
{
	if (root.opener) /* the root of a live process is a link, which needs not be followed */
		return read_link(root.path, path);
	int jp_cleanup(jp_file_close) dir = open(root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 && read_fd_link(dir, path);
}

bool jp_file_real_path(int fd, struct jp_root root, char *path)
{
	char top[PATH_MAX];
	if (!read_fd_link(fd, path))
		return false;
	if (!root.path)
		return true;
	if (!real_root(root, top))
		return false;
	size_t n = strcmp(top, "/") ? strlen(top) : 0;
	if (strncmp(path, top, n) || path[n] != '/')
		return false;
	memmove(path, path + n, strlen(path + n) + 1);
	return true;
}

int jp_file_open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int jp_file_open_in(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int jp_file_make_in(int dir, const char *name)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

int jp_file_make_nameless(int dir)
{
	return openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

int jp_file_name_in(int fd, int dir, const char *name)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, dir, name, AT_SYMLINK_FOLLOW);
}

int jp_file_make_memory(void)
{
	return memfd_create("jprof", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int jp_file_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

bool jp_path_next(const char **list, char path[static PATH_MAX])
{
	while (*list && **list) {
		size_t len = strcspn(*list, ",");
		int n = snprintf(path, PATH_MAX, "%.*s", (int)len, *list);
		*list += len + ((*list)[len] == ',');
		if (n > 0 && n < PATH_MAX)
			return true;
	}
	return false;
}

bool jp_name_beside(const char *path, const char *suffix, size_t *at, char **name)
{
	static const char *const endings[] = { "", ".gz", ".zst", ".xz" };
	size_t len = strlen(path);
	while (strcmp(path, "-") != 0 && *at < jp_count(endings)) {
		const char *ending = endings[(*at)++];
		size_t n = strlen(ending);
		if (n >= len || strcmp(path + len - n, ending) != 0)
			continue;
		if (asprintf(name, "%.*s%s", (int)(len - n), path, suffix) < 0)
			*name = NULL;
		return true;
	}
	return false;
}
