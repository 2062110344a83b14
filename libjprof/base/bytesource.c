#include "base/bytesource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

enum { window_size = 1 << 16 };

struct file_source {
	struct jp_bytesource source;
	int fd;
	const char *path;
};

struct memory_source {
	struct jp_bytesource source;
	const char *data;
	size_t len;
};

void jp_bytesource_close(struct jp_bytesource *source)
{
	if (source)
		source->close(source);
}

static int pull_file(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	const struct file_source *f = (struct file_source *)source;
	ssize_t n;
	do
		n = read(f->fd, to, room);
	while (n < 0 && errno == EINTR);
	*got = n > 0 ? (size_t)n : 0;
	return n < 0 ? jp_error(err, JPROF_E_IO, f->path, 0, "cannot be read: %s", strerror(errno)) : 0;
}

static void close_file(struct jp_bytesource *source)
{
	jp_file_close(&((struct file_source *)source)->fd);
	free(source);
}

struct jp_bytesource *jp_bytesource_file(int fd, const char *path)
{
	struct file_source *f = malloc(sizeof *f);
	if (!f) {
		jp_file_close(&fd);
		return NULL;
	}
	*f = (struct file_source){ { pull_file, close_file }, fd, path };
	return &f->source;
}

static int pull_memory(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct memory_source *m = (struct memory_source *)source;
	(void)err;
	*got = room < m->len ? room : m->len;
	if (*got)
		memcpy(to, m->data, *got);
	m->data += *got;
	m->len -= *got;
	return 0;
}

static void close_memory(struct jp_bytesource *source)
{
	free(source);
}

struct jp_bytesource *jp_bytesource_memory(const void *data, size_t len)
{
	struct memory_source *m = malloc(sizeof *m);
	if (!m)
		return NULL;
	*m = (struct memory_source){ { pull_memory, close_memory }, data, len };
	return &m->source;
}

/* Room for more behind what is held. */
static int make_room(struct jp_window *w)
{
	if (w->at && w->at >= w->cap / 2) {
		w->len -= w->at;
		memmove(w->text, w->text + w->at, w->len);
		w->at = 0;
	}
	size_t need = w->len < window_size ? window_size : w->len + 1;
	return jp_array_reserve(&w->text, &w->cap, need, 1) ? jp_error_nomem(&w->err) : 0;
}

bool jp_window_more(struct jp_window *w)
{
	size_t got = 0;
	if (!w->source || w->rc)
		return false;
	w->rc = make_room(w);
	if (!w->rc)
		w->rc = w->source->pull(w->source, w->text + w->len, w->cap - w->len, &got, &w->err);
	w->len += got;
	return got;
}

void jp_window_fill(struct jp_window *w, size_t size)
{
	while (w->len - w->at < size && jp_window_more(w))
		continue;
}

void jp_window_release(struct jp_window *w)
{
	jp_bytesource_close(w->source);
	if (w->cap)
		free(w->text);
	*w = (struct jp_window){ 0 };
}
