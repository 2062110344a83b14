#include "input/stream.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "input/unpack.h"

int jp_stream_trouble(const struct jp_stream *s, struct jprof_error *err)
{
	if (s->window.rc && err)
		*err = s->window.err;
	return s->window.rc;
}

static int unpack_stream(struct jp_stream *s, struct jprof_error *err)
{
	int rc = jp_unpack_window(&s->window, s->name, &jp_unpack_default, &s->damage, err);
	if (!rc && s->damage.code && !jp_stream_head(s).len)
		rc = jp_error(err, JPROF_E_FORMAT, s->name, 0,
		              "the compressed data is cut or damaged from its start on; copy it again");
	return rc;
}

int jp_stream_open(struct jp_stream *s, const char *path, struct jprof_error *err)
{
	struct stat st;
	int fd;
	*s = (struct jp_stream){ .name = strcmp(path, "-") ? path : "<stdin>" };
	int rc = jp_file_open(path, &fd, &st, err);
	if (rc)
		return rc;
	s->mtime = S_ISREG(st.st_mode) ? st.st_mtime : 0;
	s->window.source = jp_bytesource_file(fd, path);
	if (!s->window.source)
		return jp_error_nomem(err);
	jp_window_fill(&s->window, jp_sniff_enough);
	rc = jp_stream_trouble(s, err);
	return rc ? rc : unpack_stream(s, err);
}

int jp_stream_memory(struct jp_stream *s, const void *data, size_t len, const char *name, struct jprof_error *err)
{
	*s = (struct jp_stream){ .name = name ? name : "" };
	if (!jp_is_packed(data, len)) {
		s->window = (struct jp_window){ .text = (char *)(uintptr_t)data, .len = len };
		return 0;
	}
	s->window.source = jp_bytesource_memory(data, len);
	if (!s->window.source)
		return jp_error_nomem(err);
	jp_window_fill(&s->window, jp_sniff_enough);
	int rc = jp_stream_trouble(s, err);
	return rc ? rc : unpack_stream(s, err);
}

int jp_stream_sum(struct jp_stream *s, struct jprof_error *err)
{
	struct jp_span head = jp_stream_head(s);
	s->sum = jp_checksum_none();
	jp_checksum_add(&s->sum, head.ptr, head.len);
	struct jp_bytesource *source = s->window.source ? jp_checksum_source(s->window.source, &s->sum) : NULL;
	if (s->window.source && !source)
		return jp_error_nomem(err);
	s->window.source = source;
	return 0;
}

void jp_stream_skip(struct jp_stream *s)
{
	do
		s->window.at = s->window.len;
	while (jp_window_more(&s->window));
}

struct jp_span jp_stream_head(const struct jp_stream *s)
{
	return (struct jp_span){ s->window.text ? s->window.text + s->window.at : "", s->window.len - s->window.at };
}

int jp_stream_whole(struct jp_stream *s, struct jp_span *all, struct jprof_error *err)
{
	jp_window_fill(&s->window, SIZE_MAX);
	*all = jp_stream_head(s);
	return jp_stream_trouble(s, err);
}

int jp_stream_take(struct jp_stream *s, struct jp_strbuf *all, struct jprof_error *err)
{
	struct jp_window *w = &s->window;
	struct jp_span rest;
	int rc = jp_stream_whole(s, &rest, err);
	*all = (struct jp_strbuf){ 0 };
	if (!rc && w->cap && !w->at) {
		*all = (struct jp_strbuf){ .text = w->text, .len = w->len, .cap = w->cap };
		w->text = NULL;
		w->len = w->cap = 0;
		rest.len = 0;
	}
	if (!rc)
		jp_strbuf_add(all, rest.ptr, rest.len);
	return !rc && all->failed ? jp_error_nomem(err) : rc;
}

void jp_stream_release(struct jp_stream *s)
{
	jp_window_release(&s->window);
}
