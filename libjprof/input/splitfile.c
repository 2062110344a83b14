#include "input/splitfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/ours.h"
#include "input/splitcopy.h"

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

/* Takes "." and ".." and what is said twice out of an absolute path, which need not be there. */
static void tidy_path(char *path)
{
	char *to = path;
	for (const char *at = path; *at;) {
		size_t len = strcspn(at + 1, "/") + 1; /* with the slash before it */
		if (len == 3 && !strncmp(at, "/..", 3))
			while (to > path && *--to != '/')
				;
		else if (len > 1 && !(len == 2 && at[1] == '.')) {
			memmove(to, at, len);
			to += len;
		}
		at += len;
	}
	*to = '\0';
}

static bool has_dots(const char *name)
{
	for (const char *at = name; *at; at += strcspn(at, "/"), at += strspn(at, "/"))
		if (!strncmp(at, "..", 2) && (at[2] == '/' || !at[2]))
			return true;
	return false;
}

/* Whether the unit's file would lie elsewhere than below the directory of its compilation. */
static bool lies_outside(const struct jp_reply_want *want)
{
	char dir[PATH_MAX], path[PATH_MAX];
	if (*want->name != '/' && !has_dots(want->name))
		return false;
	int n = snprintf(dir, sizeof dir, "%s", want->dir ? want->dir : "");
	join_path(path, dir, want->name);
	if (n >= PATH_MAX || *dir != '/' || *path != '/')
		return true;
	tidy_path(dir);
	tidy_path(path);
	size_t len = strlen(dir);
	return !len || strncmp(path, dir, len) || path[len] != '/';
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

/* ---- what a file is ----------------------------------------------------------------------------- */

/* All copies together, in bytes. */
enum { most_copied = 256 << 20 };

static const char of_another_build[] = "is of another build, or damaged";

/* Whether all ids are known, of skeletons and of this file. */
static bool is_proven(const struct jp_split_files *files, const struct jp_split_descriptor *d)
{
	return files->skeletons.known && d->ids.known;
}

/* 1: there is no memory or descriptor for it as long as others are open. */
static int copy_split(struct jp_split_files *files, const struct jp_elf_headers *h, struct jp_split_descriptor *d)
{
	uint64_t size = jp_split_size(h);
	if (size > most_copied)
		d->why = "has too much debug information to be copied";
	else if (size > most_copied - files->copied)
		return 1;
	int copy = d->why ? -1 : jp_split_copy(d->fd, h);
	if (copy < 0 && !d->why && is_short_of_descriptors(errno) && files->open_count)
		return 1;
	if (copy < 0 && !d->why) {
		char text[128];
		snprintf(text, sizeof text, "cannot be copied: %s", strerror(errno));
		d->why = keep_answer_text(files, text);
	}
	files->copied += copy < 0 ? 0 : size;
	jp_file_close(&d->fd);
	d->fd = copy;
	return copy < 0 && !d->why ? -1 : 0;
}

/* What may be given of the file. As copy_split. */
static int judge_split(struct jp_split_files *files, struct jp_split_descriptor *d)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_elf_headers h = { 0 };
	int rc = jp_elf_headers_read(d->fd, "", &arena, &h, NULL);
	if (rc == JPROF_E_NOMEM)
		return -1;
	d->package = !rc && jp_elf_section_find(&h, ".debug_cu_index", SHT_NULL);
	if (rc || !jp_elf_section_find(&h, ".debug_info.dwo", SHT_NULL))
		d->why = of_another_build;
	else if (jp_elf_section_find(&h, ".gnu_debugaltlink", SHT_NULL)) /* libdw would open what it shares with */
		d->why = "shares parts with another file (dwz)";
	if (d->why)
		return 0;
	if (d->package ? jp_split_ids_of_package(d->fd, &h, &d->ids) : jp_split_ids_of_units(d->fd, &h, &d->ids))
		return -1;
	return is_proven(files, d) ? 0 : copy_split(files, &h, d);
}

static void forget_split(struct jp_split_descriptor *d)
{
	jp_file_close(&d->fd);
	jp_split_ids_release(&d->ids);
}

/* What is known of a file, which is judged once: `fd` is taken over. As copy_split. */
static int keep_open(struct jp_split_files *files, int fd, const struct stat *st,
                     const struct jp_split_descriptor **out)
{
	struct jp_split_descriptor d = { .fd = fd, .dev = st->st_dev, .ino = st->st_ino };
	for (size_t i = 0; i < files->open_count; i++)
		if (files->open[i].dev == st->st_dev && files->open[i].ino == st->st_ino) {
			jp_file_close(&fd);
			*out = &files->open[i];
			return 0;
		}
	int rc = jp_array_push(files->open, files->open_count, files->open_cap) ? -1 : judge_split(files, &d);
	if (rc) {
		forget_split(&d);
		return rc;
	}
	files->open[files->open_count] = d;
	*out = &files->open[files->open_count++];
	return 0;
}

/* NULL: it may be given for that unit; else why not. */
static const char *why_not_given(const struct jp_split_descriptor *d, const struct jp_reply_want *want)
{
	if (d->why)
		return d->why;
	if (!d->ids.known || jp_split_ids_have(&d->ids, want->unit))
		return NULL;
	return d->package ? "is a DWARF package of another build, or damaged" : of_another_build;
}

/* ---- one want ----------------------------------------------------------------------------------- */

/* A search under way. */
struct split_search {
	struct jp_split_files *files;
	const struct jp_objfile *holder;
	const struct jp_reply_want *want;
	struct stat of_holder;
	bool outside;
	struct candidates candidates;
	struct jp_split_answer found;
	const char *path, *why; /* the first that is of no use */
	char text[128];         /* may have that */
};

static void note_useless(struct split_search *s, const char *path, const char *why)
{
	if (s->why)
		return;
	s->path = path;
	s->why = why;
}

/* A file that was opened at one of the places. 0, 1 and -1 as jp_split_files_open; 2: that is the end of the search. */
static int consider_split(struct split_search *s, const char *path, int fd, const struct stat *st)
{
	const struct jp_split_descriptor *d = NULL;
	if (!jp_file_same_owner(st, &s->of_holder)) {
		jp_file_close(&fd);
		note_useless(s, path, "belongs to another user");
		return 2;
	}
	int rc = keep_open(s->files, fd, st, &d);
	if (rc)
		return rc > 0 && !s->files->open_count ? -1 : rc;
	const char *why = why_not_given(d, s->want);
	if (!why && s->outside && path != s->candidates.path[package] && !is_proven(s->files, d))
		why = "lies outside the directory of its compilation";
	if (why)
		note_useless(s, path, why);
	else
		s->found.files[s->found.count++] = (struct jp_open_file){ d->fd, path };
	return 0;
}

static int look_at_place(struct split_search *s, const char *path)
{
	struct stat st;
	int fd;
	enum place place = open_candidate(s->holder, path, &fd, &st);
	if (place == REGULAR)
		return consider_split(s, path, fd, &st);
	if (place == SHUT && is_short_of_descriptors(errno) && s->files->open_count)
		return 1;
	if (place == SHUT && !s->why) {
		snprintf(s->text, sizeof s->text, "cannot be opened: %s", strerror(errno));
		note_useless(s, path, s->text);
	}
	if (place != FORBIDDEN)
		return 0;
	jp_file_close(&fd);
	s->path = path;
	s->why = s->holder->root.path ? "lies outside the sysroot, or is no regular file" : "is no regular file";
	return 2;
}

/* One text for all that lies outside: whether anything is there is nobody's business. */
static int refuse_split(const struct split_search *s)
{
	const char *compiled_at = s->candidates.path[compiled];
	const char *path = *compiled_at ? compiled_at : s->want->name;
	if (s->outside)
		return refuse_path(s->files, s->want, path, "is missing, or not the one that was compiled");
	return refuse_path(s->files, s->want, s->why ? s->path : path, s->why ? s->why : "is missing");
}

static int begin_search(struct split_search *s)
{
	struct jp_split_files *files = s->files;
	const struct jp_objfile *holder = s->holder;
	if (holder->root.opener)
		return refuse_path(files, s->want, "a .dwo file",
		                   "is not read of a live process; leave its names to the reader of the bundle");
	if (!files->looked && jp_split_ids_of_skeletons(holder->fd, &holder->headers, &files->skeletons))
		return -1;
	files->looked = true;
	if (fstat(holder->fd, &s->of_holder) || !list_candidate_paths(holder, s->want, &s->candidates))
		return refuse_path(files, s->want, "a .dwo file", "has no name");
	if (files->skeletons.known && !jp_split_ids_have(&files->skeletons, s->want->unit))
		return refuse_path(files, s->want, s->want->name, "is of no unit of this file");
	s->outside = lies_outside(s->want);
	if (s->outside && !files->skeletons.known)
		return refuse_path(files, s->want, s->want->name, "lies outside the directory of its compilation");
	return 1;
}

int jp_split_files_open(struct jp_split_files *files, const struct jp_objfile *holder, const struct jp_reply_want *want)
{
	struct split_search s = { .files = files, .holder = holder, .want = want };
	int rc = begin_search(&s);
	if (rc <= 0)
		return rc;
	rc = 0;
	for (int i = 0; !rc && i < jp_split_places; i++)
		rc = look_at_place(&s, s.candidates.path[i]);
	if (rc < 0 || rc == 1)
		return rc;
	return !rc && s.found.count ? answer_with(files, want, &s.found) : refuse_split(&s);
}

void jp_split_files_release(struct jp_split_files *files)
{
	for (size_t i = 0; i < files->open_count; i++)
		forget_split(&files->open[i]);
	free(files->open);
	free(files->answers);
	jp_split_ids_release(&files->skeletons);
	jp_arena_release(&files->arena);
	*files = (struct jp_split_files){ 0 };
}
