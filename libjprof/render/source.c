#include "render/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/ours.h"

enum { most_source = 64 << 20 };

/* The path without the first prefix that it begins with, a whole number of directories. */
static const char *trim(const char *path, const char *prefixes)
{
	char prefix[PATH_MAX];
	while (jp_path_next(&prefixes, prefix)) {
		size_t len = strlen(prefix);
		while (len && prefix[len - 1] == '/')
			len--;
		if (!strncmp(path, prefix, len) && path[len] == '/')
			return path + len + 1;
	}
	return path;
}

/* Reads an open file; why that cannot be is returned, and whether reading failed. */
static const char *read_file(struct jp_source *s, int fd, const struct stat *st, bool *failed)
{
	char chunk[1 << 14];
	ssize_t n;
	if (st->st_size > most_source)
		return "is larger than 64 MiB";
	while ((n = read(fd, chunk, sizeof chunk)) > 0 && s->text.len <= most_source)
		jp_strbuf_add(&s->text, chunk, (size_t)n);
	*failed = n < 0;
	if (n < 0)
		return strerror(errno);
	return s->text.len ? NULL : "is empty";
}

/* That a file may be there is not covered by the next one, which is not. */
static void put_trouble(struct jp_source *s, const char *root, const char *path, const char *why)
{
	jp_strbuf_cut(&s->text, 0);
	if (s->unread)
		return;
	jp_strbuf_cut(&s->trouble, 0);
	if (root)
		jp_strbuf_visible(&s->trouble, root);
	if (root && *path != '/')
		jp_strbuf_str(&s->trouble, "/");
	jp_strbuf_visible(&s->trouble, path);
	jp_strbuf_str(&s->trouble, ": ");
	jp_strbuf_str(&s->trouble, why);
}

static bool try_file(struct jp_source *s, const char *root, const char *path, const struct jprof_notice *notice)
{
	const struct jp_root below = { .path = root, .notice = notice };
	struct stat st;
	int jp_cleanup(jp_file_close) fd = jp_file_open_untrusted(below, path, &st);
	bool unread = fd < 0 && !jp_file_is_absent(errno);
	const char *why = fd >= 0           ? read_file(s, fd, &st, &unread)
	                  : errno == EINVAL ? "is not a regular file"
	                                    : strerror(errno);
	if (!why)
		return true;
	put_trouble(s, root, path, why);
	s->unread = s->unread || unread;
	return false;
}

/* a/b/c.c, b/c.c, c.c below a directory. */
static bool try_below(struct jp_source *s, const char *dir, const char *path, const struct jprof_notice *notice)
{
	for (const char *rest = path; rest; rest = strchr(rest, '/')) {
		rest += strspn(rest, "/");
		if (try_file(s, dir, rest, notice))
			return true;
	}
	return false;
}

static bool find_source(struct jp_source *s, const char *path, const char *doubt, const char *root,
                        const struct jprof_report_opts *opts)
{
	char dir[PATH_MAX];
	const char *dirs = opts->source_path, *plain = trim(path, opts->trim_path);
	while (jp_path_next(&dirs, dir))
		if (try_below(s, dir, plain, opts->notice))
			return true;
	if (!doubt)
		return try_file(s, root, path, opts->notice);
	put_trouble(s, NULL, path, doubt);
	return false;
}

static int split(struct jp_source *s)
{
	struct jp_reader reader;
	struct jp_span line;
	jp_reader_init(&reader, s->text.text, s->text.len);
	while (jp_reader_line(&reader, &line)) {
		if (jp_array_push(s->lines, s->count, s->cap))
			return -1;
		s->lines[s->count++] = line;
	}
	return 0;
}

/* The sysroot of symbolizing; NULL: none. */
static const char *code_sysroot(const struct jp_code *code)
{
	return code->debug_root == JP_NONE ? NULL : jp_code_string(code, code->debug_root);
}

const char *jp_source_doubt(const struct jp_code *code, uint32_t object)
{
	const struct jp_object *o = &code->objects[object];
	if (o->file == JP_NONE)
		return "is named by the input alone, and not by an object file that was found here";
	if ((code_sysroot(code) && o->file_root != JP_NONE) ||
	    jp_file_is_ours(jp_code_string(code, o->file), o->file_mark.dev, o->file_mark.inode))
		return NULL;
	return "is named by an object file that somebody else may have made";
}

int jp_source_open(struct jp_source *s, const char *path, const char *doubt, const struct jp_code *code,
                   const struct jprof_report_opts *opts)
{
	*s = (struct jp_source){ 0 };
	if (find_source(s, path, doubt, code_sysroot(code), opts)) {
		jp_strbuf_cut(&s->trouble, 0);
		s->unread = false;
		if (s->text.failed || split(s))
			return -1;
	}
	return s->text.failed || s->trouble.failed ? -1 : 0;
}

void jp_source_put(const struct jp_source *s, size_t number, struct jp_strbuf *out)
{
	const struct jp_span *line = number && number <= s->count ? &s->lines[number - 1] : NULL;
	for (size_t i = 0, part; line && i < line->len; i += part) {
		const char *at = line->ptr + i, *tab = memchr(at, '\t', line->len - i);
		part = tab ? (size_t)(tab - at) + 1 : line->len - i;
		jp_strbuf_visible_bytes(out, at, part - (tab != NULL));
		if (tab)
			jp_strbuf_str(out, "\t");
	}
}

void jp_source_release(struct jp_source *s)
{
	jp_strbuf_release(&s->text);
	jp_strbuf_release(&s->trouble);
	free(s->lines);
	*s = (struct jp_source){ 0 };
}
