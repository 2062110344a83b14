#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ending.h"
#include "cli/fdwrite.h"
#include "cli/filesread.h"
#include "cli/newfile.h"

enum { most_links = 40 };

static const char foreign_link[] = "is a link of somebody else's; give the file that is meant";
static const char changed[] = "was replaced meanwhile; nothing is written";

static const char *write_trouble(int error)
{
	return error ? strerror(error) : NULL;
}

/* ---- what lies there ---------------------------------------------------------------------------------- */

/* The number of an open descriptor of this process that the path means; -1: none. Opening such a path anew would begin
 * a file from its start, and cannot be done for a socket. */
static int descriptor_of(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/" };
	if (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr"))
		return !strcmp(path, "/dev/stdout") ? STDOUT_FILENO : STDERR_FILENO;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		const char *number = path + strlen(dirs[i]);
		if (!strncmp(path, dirs[i], strlen(dirs[i])) && *number && strlen(number) < 10 &&
		    strspn(number, "0123456789") == strlen(number))
			return atoi(number);
	}
	return -1;
}

/* Puts the link's target in its place. */
static int follow_output(char path[static PATH_MAX])
{
	char target[PATH_MAX], whole[2 * PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);
	if (n < 0)
		return errno;
	target[n] = '\0';
	const char *slash = strrchr(path, '/');
	int dir = slash && *target != '/' ? (int)(slash - path) + 1 : 0;
	int len = snprintf(whole, sizeof whole, "%.*s%s", dir, path, target);
	if (len >= PATH_MAX)
		return ENAMETOOLONG;
	memcpy(path, whole, (size_t)len + 1);
	return 0;
}

/* The path without a link at its end, and what lies there: st_mode is 0 for nothing. */
static const char *resolve_output(char path[static PATH_MAX], struct stat *st)
{
	for (int i = 0; i < most_links && descriptor_of(path) < 0; i++) {
		if (lstat(path, st)) {
			st->st_mode = 0;
			return errno == ENOENT ? NULL : strerror(errno);
		}
		if (!S_ISLNK(st->st_mode))
			return NULL;
		if (st->st_uid && st->st_uid != geteuid())
			return foreign_link;
		int error = follow_output(path);
		if (error)
			return strerror(error);
	}
	return descriptor_of(path) < 0 ? strerror(ELOOP) : NULL;
}

/* ---- ways to write ------------------------------------------------------------------------------------------ */

static const char *write_through(const char *path, const char *data, size_t len)
{
	struct stat st;
	int number = descriptor_of(path), fd = number;
	if (number < 0)
		fd = open(path, O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return strerror(errno);
	const char *why = number < 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? changed : NULL;
	if (!why)
		why = write_trouble(fd_write(fd, data, len, false));
	if (number < 0 && close(fd) && !why)
		why = strerror(errno);
	return why;
}

/* Room is taken before the first byte is overwritten, where the file system knows how. */
static int overwrite(int fd, const char *data, size_t len)
{
	if (len && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)len) &&
	    (errno == ENOSPC || errno == EFBIG || errno == EDQUOT))
		return errno;
	int error = fd_write(fd, data, len, true);
	if (!error && (ftruncate(fd, (off_t)len) || fdatasync(fd)))
		error = errno;
	return error;
}

static const char *write_in_place(const char *path, const struct stat *old, const char *data, size_t len)
{
	struct stat st;
	sigset_t before;
	int fd = open(path, O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return strerror(errno);
	const char *why = fstat(fd, &st) || st.st_dev != old->st_dev || st.st_ino != old->st_ino ? changed : NULL;
	ending_hold(&before);
	if (!why)
		why = write_trouble(overwrite(fd, data, len));
	close(fd);
	ending_release(&before);
	return why;
}

/* Of a group that cannot be kept, the caller's gets no more than everybody has. */
static void take_over(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;
	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode = (mode & 0707) | (mode & 0007) << 3;
	(void)!fchmod(fd, mode);
}

/* Returns 0 or an errno; then there is nothing but what was there. */
static int write_part(const char *path, const struct stat *old, const char *data, size_t len)
{
	struct newfile file;
	sigset_t before;
	ending_hold(&before);
	int error = newfile_begin(&file, path);
	if (!error && !file.part) /* what has no name goes with the process */
		ending_release(&before);
	if (!error && old->st_mode)
		take_over(file.fd, old);
	if (!error && newfile_write(&file, data, len))
		error = file.error;
	if (error) {
		newfile_abandon(&file);
	} else {
		ending_hold(&(sigset_t){ 0 });
		error = newfile_replace(&file);
	}
	ending_release(&before);
	return error;
}

/* A directory that is not the caller's, or a file that something is mounted on. */
static bool is_fixed(int error)
{
	return error == EACCES || error == EPERM || error == EROFS || error == EBUSY || error == EXDEV;
}

const char *outfile_write(const char *given, const void *data, size_t len)
{
	char path[PATH_MAX];
	struct stat st = { 0 };
	if ((size_t)snprintf(path, sizeof path, "%s", given) >= sizeof path)
		return strerror(ENAMETOOLONG);
	const char *why = resolve_output(path, &st);
	if (!why && st.st_mode)
		why = filesread_refusal(&st);
	if (why)
		return why;
	if (descriptor_of(path) >= 0 || (st.st_mode && !S_ISREG(st.st_mode)))
		return write_through(path, data, len);
	if (st.st_mode && access(path, W_OK))
		return strerror(errno);
	int error = write_part(path, &st, data, len);
	return st.st_mode && is_fixed(error) ? write_in_place(path, &st, data, len) : write_trouble(error);
}
