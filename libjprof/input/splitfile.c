#include "input/splitfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

/* What is at a place. SHUT: errno says why it cannot be opened. */
enum place { NOTHING, REGULAR, FORBIDDEN, SHUT };

enum { beside, compiled, package };

/* As the kernel sees them; "": none. */
struct candidates {
	char path[jp_split_places][PATH_MAX];
};

/* ---- where they may be -------------------------------------------------------------------------- */

/* DIR/NAME, or NAME if that is absolute; "" if it gets too long. */
static void join_path(char *path, const char *dir, const char *name)
{
	int n = *name == '/' ? snprintf(path, PATH_MAX, "%s", name) : snprintf(path, PATH_MAX, "%s/%s", dir, name);
	if (n < 0 || n >= PATH_MAX)
		*path = '\0';
}

static bool list_candidate_paths(const struct jp_objfile *holder, const struct jp_reply_want *want,
                                 struct candidates *c)
{
	char dir[PATH_MAX], compiled_in[PATH_MAX];
	if (!jp_file_real_path(holder->fd, (struct jp_root){ 0 }, dir))
		return false;
	if (snprintf(c->path[package], PATH_MAX, "%s.dwp", dir) >= PATH_MAX)
		*c->path[package] = '\0';
	*strrchr(dir, '/') = '\0';
	join_path(c->path[beside], dir, want->name);
	join_path(compiled_in, dir, want->dir ? want->dir : "");
	join_path(c->path[compiled], compiled_in, want->name);
	return true;
}

static bool is_short_of_descriptors(int error)
{
	return error == EMFILE || error == ENFILE;
}

/* What lies there; a regular file inside the root is opened. */
static enum place open_candidate(const struct jp_objfile *holder, const char *path, int *fd, struct stat *st)
{
	struct stat below;
	char inside[PATH_MAX];
	*fd = *path ? jp_file_open_untrusted((struct jp_root){ .notice = holder->root.notice }, path, st) : -1;
	if (*fd < 0 && *path && errno == EINVAL)
		return FORBIDDEN;
	if (*fd < 0)
		return !*path || errno == ENOENT || errno == ENOTDIR ? NOTHING : SHUT;
	if (!holder->root.path)
		return REGULAR;
	int jp_cleanup(jp_file_close) same = -1;
	if (jp_file_real_path(*fd, holder->root, inside) &&
	    (same = jp_file_open_untrusted(holder->root, inside, &below)) < 0 && is_short_of_descriptors(errno)) {
		jp_file_close(fd);
		errno = EMFILE;
		return SHUT;
	}
	return same >= 0 && below.st_dev == st->st_dev && below.st_ino == st->st_ino ? REGULAR : FORBIDDEN;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static const char *keep_answer_text(struct jp_split_files *files, const char *text)
{
	return jp_arena_dup(&files->arena, text, strlen(text));
}

/* The descriptor of a file, the earlier one if it is open already: `fd` is taken over either way. Below 0 when memory
 * is short. */
static int keep_open(struct jp_split_files *files, int fd, const struct stat *st)
{
	for (size_t i = 0; i < files->open_count; i++)
		if (files->open[i].dev == st->st_dev && files->open[i].ino == st->st_ino) {
			jp_file_close(&fd);
			return files->open[i].fd;
		}
	if (jp_array_push(files->open, files->open_count, files->open_cap)) {
		jp_file_close(&fd);
		return -1;
	}
	files->open[files->open_count++] = (struct jp_split_descriptor){ fd, st->st_dev, st->st_ino };
	return fd;
}

static struct jp_split_answer *add_answer(struct jp_split_files *files, const struct jp_reply_want *want)
{
	const char *name = keep_answer_text(files, want->name);
	if (!name || jp_array_push(files->answers, files->count, files->cap))
		return NULL;
	files->answers[files->count] = (struct jp_split_answer){ .unit = want->unit, .name = name };
	return &files->answers[files->count++];
}

int jp_split_files_refuse(struct jp_split_files *files, const struct jp_reply_want *want, const char *why)
{
	struct jp_split_answer *answer = add_answer(files, want);
	if (!answer)
		return -1;
	answer->count = 0; /* what was opened for it is of no use */
	answer->why = keep_answer_text(files, why);
	return answer->why ? 0 : -1;
}

static int refuse_path(struct jp_split_files *files, const struct jp_reply_want *want, const char *path,
                       const char *why)
{
	char text[512];
	snprintf(text, sizeof text, "%.380s %s", path, why);
	return jp_split_files_refuse(files, want, text);
}

static int answer_with(struct jp_split_files *files, const struct jp_reply_want *want,
                       const struct jp_split_answer *found)
{
	struct jp_split_answer *answer = add_answer(files, want);
	if (!answer)
		return -1;
	for (unsigned i = 0; i < found->count; i++) {
		const char *path = keep_answer_text(files, found->files[i].path);
		if (!path)
			return -1;
		answer->files[answer->count++] = (struct jp_open_file){ found->files[i].fd, path };
	}
	return 0;
}

int jp_split_files_open(struct jp_split_files *files, const struct jp_objfile *holder, const struct jp_reply_want *want)
{
	struct candidates c;
	struct jp_split_answer found = { 0 };
	int shut = -1, why = 0; /* the first that cannot be opened */
	if (holder->root.opener)
		return refuse_path(files, want, "a .dwo file",
		                   "is not read of a live process; leave its names to the reader of the bundle");
	if (!list_candidate_paths(holder, want, &c))
		return refuse_path(files, want, "a .dwo file", "has no name");
	for (int i = 0; i < jp_split_places; i++) {
		int fd;
		struct stat st;
		enum place place = open_candidate(holder, c.path[i], &fd, &st);
		if (place == SHUT && is_short_of_descriptors(errno) && files->open_count)
			return 1;
		if (place == SHUT && shut < 0) {
			why = errno;
			shut = i;
		}
		if (place == FORBIDDEN) {
			jp_file_close(&fd);
			return refuse_path(files, want, c.path[i],
			                   holder->root.path ? "lies outside the sysroot, or is no regular file"
			                                     : "is no regular file");
		}
		if (place != REGULAR)
			continue;
		fd = keep_open(files, fd, &st);
		if (fd < 0)
			return -1;
		found.files[found.count++] = (struct jp_open_file){ fd, c.path[i] };
	}
	if (found.count)
		return answer_with(files, want, &found);
	if (shut >= 0) {
		char text[128];
		snprintf(text, sizeof text, "cannot be opened: %s", strerror(why));
		return refuse_path(files, want, c.path[shut], text);
	}
	return refuse_path(files, want, *c.path[compiled] ? c.path[compiled] : want->name, "is missing");
}

void jp_split_files_release(struct jp_split_files *files)
{
	for (size_t i = 0; i < files->open_count; i++)
		jp_file_close(&files->open[i].fd);
	free(files->open);
	free(files->answers);
	jp_arena_release(&files->arena);
	*files = (struct jp_split_files){ 0 };
}
