/* A file that a process names, as it sees it: opened below its root, and taken only if it is that process's own. */
#include "collect/dumpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

int jp_dump_dir_open(const struct jprof_target *t, const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;
	if (len >= sizeof dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dir, path, len);
	dir[len] = '\0';
	return jp_file_handle_below(jp_target_path(t, *path == '/' ? "root" : "cwd"), dir);
}

const char *jp_dump_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int fail(const struct jprof_target *t, const char *path, const char *why, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its file %s cannot be read: %s", t->pid, path, why);
}

/* A process may tell of any file: one of another user's is none that it made. */
static const char *why_not_its_own(const struct jprof_target *t, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (t->uid && st->st_uid != t->uid)
		return "it belongs to another user than the process";
	return NULL;
}

static int open_at(const struct jprof_target *t, struct jprof_dump_file *file, struct jprof_error *err)
{
	char held[32];
	int jp_cleanup(jp_file_close) handle = openat(file->dir, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (handle < 0 || fstat(handle, &file->st))
		return fail(t, file->name, strerror(errno), err);
	const char *why = why_not_its_own(t, &file->st);
	if (why)
		return fail(t, file->name, why, err);
	snprintf(held, sizeof held, "/proc/self/fd/%d", handle);
	file->fd = open(held, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return file->fd < 0 ? fail(t, file->name, strerror(errno), err) : 0;
}

int jp_dump_file_at(const struct jprof_target *t, int dir, const char *name, struct jprof_dump_file **out,
                    struct jprof_error *err)
{
	struct jprof_dump_file *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	file->fd = -1;
	file->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	file->name = strdup(name);
	int rc = !file->name ? jp_error_nomem(err) : file->dir < 0 ? fail(t, name, strerror(errno), err) : 0;
	rc = rc ? rc : open_at(t, file, err);
	if (rc) {
		jprof_dump_file_free(file);
		return rc;
	}
	*out = file;
	return 0;
}

int jprof_target_file(const struct jprof_target *t, const char *path, struct jprof_dump_file **out,
                      struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) dir = jp_dump_dir_open(t, path);
	return dir < 0 ? fail(t, path, strerror(errno), err) : jp_dump_file_at(t, dir, jp_dump_base(path), out, err);
}

int jprof_target_beside(const struct jprof_target *t, const struct jprof_dump_file *file, const char *suffix,
                        struct jprof_dump_file **out, struct jprof_error *err)
{
	char name[NAME_MAX + 1];
	if ((size_t)snprintf(name, sizeof name, "%s%s", file->name, suffix) >= sizeof name)
		return fail(t, file->name, strerror(ENAMETOOLONG), err);
	return jp_dump_file_at(t, file->dir, name, out, err);
}

int jprof_dump_file_fd(const struct jprof_dump_file *file)
{
	return file->fd;
}

const char *jprof_dump_file_name(const struct jprof_dump_file *file)
{
	return file->name;
}

int jprof_dump_file_remove(struct jprof_dump_file *file, struct jprof_error *err)
{
	struct stat st;
	if (fstatat(file->dir, file->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT
		           ? 0
		           : jp_error(err, JPROF_E_IO, file->name, 0, "cannot be removed: %s", strerror(errno));
	if (st.st_dev != file->st.st_dev || st.st_ino != file->st.st_ino)
		return 0;
	if (!unlinkat(file->dir, file->name, 0) || errno == ENOENT)
		return 0;
	return jp_error(err, JPROF_E_IO, file->name, 0, "cannot be removed: %s", strerror(errno));
}

void jprof_dump_file_free(struct jprof_dump_file *file)
{
	if (!file)
		return;
	jp_file_close(&file->fd);
	jp_file_close(&file->dir);
	free(file->name);
	free(file);
}
