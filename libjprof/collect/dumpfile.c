/* A dump or side-car: a sealed memfd that the process handed over, or a file that it named. */
#include "collect/dumpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/reader.h"
#include "base/textparts.h"
#include "collect/below.h"

enum { largest = 1 << 30 };

bool jp_dump_name_good(const char *name, const char *prefix, int pid)
{
	struct jp_span text = { name, strlen(name) };
	uint64_t number;
	return !strchr(name, '/') && jp_span_text(&text, jp_basename(prefix)) && jp_span_char(&text, '.') &&
	       jp_span_decimal(&text, &number) == JP_NUMBER_OK && number == (uint64_t)pid && jp_span_char(&text, '.') &&
	       jp_span_decimal(&text, &number) == JP_NUMBER_OK && jp_span_text(&text, ".j") &&
	       jp_span_decimal(&text, &number) == JP_NUMBER_OK && jp_span_text(&text, ".heap") && !text.len;
}

/* ---- handed over ------------------------------------------------------------------------------------------ */

/* Only a file in memory has seals: no other one's reading can be made to wait, and none can change. */
static const char *why_not_sealed(int fd, const struct stat *st)
{
	const int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	int seals = fcntl(fd, F_GET_SEALS);
	if (!S_ISREG(st->st_mode) || seals < 0)
		return "is no memfd";
	if ((seals & all) != all)
		return "is a memfd that is not sealed";
	return st->st_size > largest ? "is larger than any dump" : NULL;
}

int jp_dump_file_adopt(int fd, const char *name, const char *what, struct jprof_dump_file **out,
                       struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) held = fd;
	struct stat st;
	const char *why = fstat(fd, &st) ? strerror(errno) : why_not_sealed(fd, &st);
	if (why)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s handed over something for %s that %s", what, name,
		                why);
	struct jprof_dump_file *file = calloc(1, sizeof *file);
	if (file)
		*file = (struct jprof_dump_file){ .fd = -1, .st = st, .path = strdup(name) };
	if (!file || !file->path) {
		jprof_dump_file_free(file);
		return jp_error_nomem(err);
	}
	file->name = file->path;
	file->fd = held;
	held = -1;
	*out = file;
	return 0;
}

/* ---- named ------------------------------------------------------------------------------------------------- */

static int file_failed(const struct jprof_target *t, const char *name, const char *why, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its file %s cannot be read: %s", t->pid, name, why);
}

/* Of a target that may end before its files are removed. */
static struct jprof_target *copy_target(const struct jprof_target *t)
{
	struct jprof_target *copy = calloc(1, sizeof *copy);
	if (!copy)
		return NULL;
	*copy = (struct jprof_target){ .proc = strdup(t->proc), .pid = t->pid, .pidfd = -1, .opener = t->opener };
	if (copy->proc)
		return copy;
	free(copy);
	return NULL;
}

int jp_dump_file_open(const struct jprof_target *t, const char *path, struct jprof_dump_file **out,
                      struct jprof_error *err)
{
	struct jprof_dump_file *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	*file = (struct jprof_dump_file){ .fd = -1, .path = strdup(path), .of = copy_target(t) };
	int rc = file->path && file->of ? 0 : jp_error_nomem(err);
	if (!rc) {
		file->name = jp_basename(file->path);
		file->fd = jp_below_open(t, JPROF_OPEN_DUMP, path, &file->st);
		if (file->fd < 0)
			rc = file_failed(t, file->name, jp_file_why(errno), err);
		else if (file->st.st_uid != t->uid) /* a process may name any file */
			rc = file_failed(t, file->name, "it belongs to another user than the process", err);
	}
	if (rc) {
		jprof_dump_file_free(file);
		return rc;
	}
	*out = file;
	return 0;
}

int jp_dump_file_beside(const struct jprof_target *t, const struct jprof_dump_file *file, const char *suffix,
                        struct jprof_dump_file **out, struct jprof_error *err)
{
	char path[PATH_MAX];
	if ((size_t)snprintf(path, sizeof path, "%s%s", file->path, suffix) >= sizeof path)
		return file_failed(t, file->name, strerror(ENAMETOOLONG), err);
	return jp_dump_file_open(t, path, out, err);
}

/* ---- both --------------------------------------------------------------------------------------------------- */

int jprof_dump_file_fd(const struct jprof_dump_file *file)
{
	return file ? file->fd : -1;
}

const char *jprof_dump_file_name(const struct jprof_dump_file *file)
{
	return file ? file->name : NULL;
}

int jprof_dump_file_remove(struct jprof_dump_file *file, struct jprof_error *err)
{
	if (jp_null(err, file))
		return JPROF_E_ARGUMENT;
	if (!file->of || !jp_below_remove(file->of, file->path, &file->st) || errno == ENOENT || errno == ESTALE)
		return 0;
	return jp_error(err, JPROF_E_IO, file->name, 0, "cannot be removed: %s", jp_file_why(errno));
}

void jprof_dump_file_free(struct jprof_dump_file *file)
{
	if (!file)
		return;
	jp_file_close(&file->fd);
	if (file->of)
		free(file->of->proc);
	free(file->of);
	free(file->path);
	free(file);
}
