#include "cli/newfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/ending.h"
#include "cli/fdwrite.h"
#include "cli/names.h"
#include "cli/say.h"

static const char part_end[] = ".jprof-part";
enum { tries = 8, most_parts = 8, longest_wait = 1 /* second */, chunk = 1 << 20 };

/* Names of parts that are there, for who ends the program on another thread. Held while one is made or goes. */
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *parts[most_parts];

/* With the lock. */
static void note_part(const char *part)
{
	for (size_t i = 0; i < most_parts; i++)
		if (!parts[i]) {
			parts[i] = part;
			return;
		}
}

static void forget_part(const char *part)
{
	for (size_t i = 0; part && i < most_parts; i++)
		if (parts[i] == part)
			parts[i] = NULL;
}

/* The lock may be held over a file system that hangs. */
void newfile_end_parts(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += longest_wait;
	if (pthread_mutex_timedlock(&parts_lock, &until))
		return;
	for (size_t i = 0; i < most_parts; i++)
		if (parts[i])
			unlink(parts[i]);
}

/* The directory of a path, with its last slash; to be freed. */
static char *newfile_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

/* Hidden, and like those of mkostemps; to be freed. */
static char *part_name(const char *path, unsigned number)
{
	char *dir = newfile_directory(path), *part = NULL;
	if (dir && asprintf(&part, "%s.%.220s.%06x%s", dir, jp_basename(path), number & 0xffffff, part_end) < 0)
		part = NULL;
	free(dir);
	return part;
}

static bool is_part_of(const char *entry, const char *name)
{
	size_t n = strlen(name), end = sizeof part_end - 1, len = strlen(entry);
	return len == n + end + 8 && *entry == '.' && !strncmp(entry + 1, name, n) && entry[n + 1] == '.' &&
	       !strcmp(entry + len - end, part_end);
}

/* Removes it if it is this user's and nobody holds its lock. */
static void remove_if_left(int dir, const char *entry)
{
	int fd = openat(dir, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	struct stat st;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, entry, 0);
	close(fd);
}

static void remove_left(const char *dir_path, const char *name)
{
	DIR *dir = opendir(dir_path);
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (is_part_of(e->d_name, name))
			remove_if_left(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

/* Somebody who cleans up may have been faster than the lock: then it has no name any more. */
static bool lock(int fd)
{
	struct stat st;
	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_nlink;
}

static int try_parts(struct newfile *file, const char *dir)
{
	for (int i = 0; i < tries; i++) {
		if (asprintf(&file->part, "%s.%.220s.XXXXXX%s", dir, jp_basename(file->path), part_end) < 0) {
			file->part = NULL;
			errno = ENOMEM;
			return -1;
		}
		int fd = mkostemps(file->part, sizeof part_end - 1, O_CLOEXEC);
		if (fd >= 0 && lock(fd)) {
			/* As if open had made it: mkostemps gives it to its owner alone. */
			mode_t mask = umask(0);
			umask(mask);
			(void)!fchmod(fd, 0666 & ~mask);
			note_part(file->part);
			return fd;
		}
		int error = errno;
		if (fd >= 0) {
			unlink(file->part);
			close(fd);
		}
		free(file->part);
		file->part = NULL;
		errno = error;
		if (fd < 0)
			return -1;
	}
	return -1;
}

static int open_part(struct newfile *file, const char *dir)
{
	pthread_mutex_lock(&parts_lock);
	int fd = try_parts(file, dir), error = errno;
	pthread_mutex_unlock(&parts_lock);
	errno = error;
	return fd;
}

static int open_nameless(const char *dir)
{
	int fd = access("/proc/self/fd", X_OK) ? -1 : open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	/* A kernel or a file system that cannot: by their manual one of these. */
	return fd < 0 && errno != EISDIR && errno != EOPNOTSUPP && errno != EINVAL && errno != ENOENT ? -2 : fd;
}

int newfile_begin(struct newfile *file, const char *path)
{
	*file = (struct newfile){ .fd = -1 };
	char *dir = newfile_directory(path);
	file->path = strdup(path);
	errno = ENOMEM;
	if (dir && file->path) {
		remove_left(dir, jp_basename(path));
		file->fd = open_nameless(dir);
		if (file->fd == -1)
			file->fd = open_part(file, dir);
	}
	int error = errno;
	free(dir);
	if (file->fd >= 0)
		return 0;
	newfile_abandon(file);
	return error;
}

bool newfile_make(struct newfile *file, const char *path)
{
	int error = newfile_begin(file, path);
	if (error)
		say("%s: cannot be made: %s", path, strerror(error));
	return !error;
}

bool newfile_open(struct newfile *file, const char *path)
{
	struct stat st;
	*file = (struct newfile){ .fd = -1 };
	if (lstat(path, &st))
		return newfile_make(file, path);
	say("%s: exists already, and nothing is overwritten; give another name, or remove it", path);
	return false;
}

int newfile_write(void *context, const void *data, size_t len)
{
	struct newfile *file = context;
	const char *at = data;
	for (size_t n; !file->error && len; at += n, len -= n) {
		n = len < chunk ? len : chunk;
		file->error = file->part && ending_waits() ? EINTR : fd_write(file->fd, at, n, true);
	}
	return file->error ? -1 : 0;
}

/* Neither way replaces a file that is there. musl has no renameat2; 1 is RENAME_NOREPLACE of linux/fs.h. */
static int name_part(const struct newfile *file)
{
	if (!link(file->part, file->path))
		return 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	return syscall(SYS_renameat2, AT_FDCWD, file->part, AT_FDCWD, file->path, 1) ? -1 : 0;
}

static int link_nameless(const struct newfile *file, const char *path)
{
	char link_path[64];
	snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, link_path, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int sync_data(const struct newfile *file)
{
	return fdatasync(file->fd) && errno != EINVAL && errno != EROFS ? errno : 0;
}

void newfile_sync(struct newfile *file)
{
	if (!file->error)
		file->error = sync_data(file);
}

/* rename takes names alone: a file without one gets that of a part. */
static int name_as_part(struct newfile *file)
{
	unsigned number;
	for (int i = 0; i < tries; i++) {
		char *part = getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number
		                 ? part_name(file->path, number)
		                 : NULL;
		int rc = part ? link_nameless(file, part) : -1;
		if (!rc)
			note_part(file->part = part);
		else
			free(part);
		if (!rc || errno != EEXIST)
			return rc;
	}
	return -1;
}

/* From no name to the last one: nobody who ends the program comes in between. */
static int replace_by_part(struct newfile *file)
{
	pthread_mutex_lock(&parts_lock);
	int error = (!file->part && name_as_part(file)) || rename(file->part, file->path) ? errno : 0;
	if (!error) {
		forget_part(file->part);
		free(file->part);
		file->part = NULL;
	}
	pthread_mutex_unlock(&parts_lock);
	return error;
}

int newfile_replace(struct newfile *file)
{
	newfile_sync(file);
	if (!file->error)
		file->error = replace_by_part(file);
	int error = file->error;
	newfile_abandon(file);
	return error;
}

/* Gives the file its name, or another that `next` knows. False: no name is left, which has been said. */
static bool name_it(struct newfile *file, char *(*next)(const void *), const void *context)
{
	while (!file->error && (file->part ? name_part(file) : link_nameless(file, file->path))) {
		if (errno != EEXIST || !next) {
			file->error = errno;
			break;
		}
		char *other = next(context);
		if (!other)
			return false;
		free(file->path);
		file->path = other;
	}
	return true;
}

static void say_failure(const struct newfile *file)
{
	if (file->error == EINTR)
		return; /* a signal that ends the program: it waits */
	if (file->error == EEXIST)
		say("%s: was made by somebody else meanwhile, and nothing is overwritten; give another name",
		    file->path);
	else
		say("%s: cannot be written: %s", file->path, strerror(file->error));
}

bool newfile_commit_as(struct newfile *file, char *(*next)(const void *), const void *context, char **path)
{
	newfile_sync(file);
	bool good = name_it(file, next, context);
	if (good && file->error) {
		say_failure(file);
		good = false;
	}
	if (good && path) {
		close(file->fd);
		file->fd = -1;
		*path = file->path;
		file->path = NULL;
	}
	newfile_abandon(file);
	return good;
}

bool newfile_commit(struct newfile *file)
{
	return newfile_commit_as(file, NULL, NULL, NULL);
}

void newfile_forget(const struct newfile *file)
{
	if (file->part)
		unlink(file->part);
}

/* After a rename the part's name is gone already, after a link it goes now. */
void newfile_abandon(struct newfile *file)
{
	pthread_mutex_lock(&parts_lock);
	if (file->part)
		unlink(file->part);
	forget_part(file->part);
	pthread_mutex_unlock(&parts_lock);
	if (file->path && file->fd >= 0)
		close(file->fd);
	free(file->part);
	free(file->path);
	*file = (struct newfile){ .fd = -1 };
}
