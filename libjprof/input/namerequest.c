#include "input/namerequest.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/reader.h"

enum {
	request_version = 2,
	image_flag = 1,
	allocator_flag = 2,
	wrappers_flag = 4,
	functions_flag = 8,
	learn_flag = 16,
	decode_flag = 32,
	all_flags = 63
};
enum { question_header = 44, named_file_bytes = 8, split_bytes = 20 + 4 * jp_split_places, offset_bytes = 8 };

static const char request_magic[8] = { 'j', 'p', 'r', 'o', 'f', 'a', 's', 'k' };

/* ---- writing ------------------------------------------------------------------------------------ */

/* Where the descriptor stands among those that go with the bytes. */
static uint32_t number_of_fd(struct jp_question *q, int fd)
{
	size_t i = 0;
	if (fd < 0)
		return JP_NONE;
	while (i < q->fd_count && q->fds[i] != fd)
		i++;
	if (i < q->fd_count)
		return (uint32_t)i;
	if (jp_array_push(q->fds, q->fd_count, q->fd_cap)) {
		q->bytes.failed = true;
		return JP_NONE;
	}
	q->fds[q->fd_count++] = fd;
	return (uint32_t)i;
}

static uint32_t put_asked_text(struct jp_strbuf *text, const char *string)
{
	uint32_t at = (uint32_t)text->len;
	if (!string)
		return JP_NONE;
	jp_strbuf_add(text, string, strlen(string) + 1);
	return at;
}

static void put_named_file(struct jp_question *q, struct jp_strbuf *text, const struct jp_open_file *file)
{
	jp_strbuf_uint(&q->bytes, number_of_fd(q, file->fd), 4);
	jp_strbuf_uint(&q->bytes, put_asked_text(text, file->fd < 0 ? NULL : file->path), 4);
}

static void put_split(struct jp_question *q, struct jp_strbuf *text, const struct jp_split_answer *split)
{
	jp_strbuf_uint(&q->bytes, split->unit, 8);
	jp_strbuf_uint(&q->bytes, put_asked_text(text, split->name), 4);
	jp_strbuf_uint(&q->bytes, put_asked_text(text, split->why), 4);
	jp_strbuf_uint(&q->bytes, split->count, 4);
	for (unsigned i = 0; i < jp_split_places; i++)
		jp_strbuf_uint(&q->bytes, i < split->count ? number_of_fd(q, split->files[i].fd) : JP_NONE, 4);
}

static void put_question_header(struct jp_question *q, const struct jp_name_request *r)
{
	unsigned flags = (r->image ? image_flag : 0u) | (r->allocator ? allocator_flag : 0u) |
	                 (r->is_wrapper ? wrappers_flag : 0u) | (r->functions ? functions_flag : 0u) |
	                 (r->learn ? learn_flag : 0u) | (r->decode ? decode_flag : 0u);
	jp_strbuf_add(&q->bytes, request_magic, sizeof request_magic);
	jp_strbuf_uint(&q->bytes, request_version, 4);
	jp_strbuf_uint(&q->bytes, flags, 4);
	jp_strbuf_uint(&q->bytes, r->dwarf, 4);
	jp_strbuf_uint(&q->bytes, r->pack_count, 8);
	jp_strbuf_uint(&q->bytes, r->split_count, 8);
	jp_strbuf_uint(&q->bytes, r->count, 8);
}

int jp_question_write(const struct jp_name_request *r, struct jp_question *q)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	put_question_header(q, r);
	put_named_file(q, &text, &r->object);
	put_named_file(q, &text, &r->debug);
	put_named_file(q, &text, &r->shared);
	for (size_t i = 0; i < r->pack_count; i++)
		put_named_file(q, &text, &r->packs[i]);
	for (size_t i = 0; i < r->split_count; i++)
		put_split(q, &text, &r->splits[i]);
	for (size_t i = 0; i < r->count; i++)
		jp_strbuf_uint(&q->bytes, r->offsets[i], offset_bytes);
	jp_strbuf_add(&q->bytes, text.len ? text.text : "", text.len);
	return q->bytes.failed || text.failed || text.len > INT32_MAX ? -1 : 0;
}

void jp_question_release(struct jp_question *q)
{
	jp_strbuf_release(&q->bytes);
	free(q->fds);
	*q = (struct jp_question){ 0 };
}

/* ---- reading ------------------------------------------------------------------------------------ */

struct question_reader {
	struct jp_bytes bytes;
	const int *fds;
	size_t fd_count;
	const char *text;
	size_t text_len;
	bool wrong;
};

static uint64_t ask32(struct question_reader *r)
{
	return jp_bytes_uint(&r->bytes, 4);
}

static int fd_numbered(struct question_reader *r)
{
	uint64_t number = ask32(r);
	if (number == JP_NONE)
		return -1;
	r->wrong = r->wrong || number >= r->fd_count;
	return r->wrong ? -1 : r->fds[number];
}

static const char *asked_text(struct question_reader *r)
{
	uint64_t at = ask32(r);
	if (at == JP_NONE)
		return NULL;
	r->wrong = r->wrong || at >= r->text_len;
	return r->wrong ? NULL : r->text + at;
}

/* An open file has a path. */
static struct jp_open_file get_named_file(struct question_reader *r)
{
	struct jp_open_file file = { .fd = fd_numbered(r) };
	file.path = asked_text(r);
	r->wrong = r->wrong || (file.fd >= 0) != (file.path != NULL);
	return file;
}

static void get_split(struct question_reader *r, struct jp_split_answer *split)
{
	split->unit = jp_bytes_uint(&r->bytes, 8);
	split->name = asked_text(r);
	split->why = asked_text(r);
	uint64_t count = ask32(r);
	r->wrong = r->wrong || !split->name || count > jp_split_places;
	split->count = r->wrong ? 0 : (unsigned)count;
	for (unsigned i = 0; i < jp_split_places; i++) {
		split->files[i] = (struct jp_open_file){ fd_numbered(r), split->name };
		r->wrong = r->wrong || (i < split->count) != (split->files[i].fd >= 0);
	}
}

/* The numbers of things must fit the bytes that are there; the text is the rest. */
static bool get_question_header(struct question_reader *r, struct jp_name_request *q)
{
	struct jp_bytes *b = &r->bytes;
	if (b->len < question_header + 3 * named_file_bytes || memcmp(b->data, request_magic, sizeof request_magic))
		return false;
	jp_bytes_seek(b, sizeof request_magic);
	uint64_t version = ask32(r), flags = ask32(r), dwarf = ask32(r);
	uint64_t packs = jp_bytes_uint(b, 8), splits = jp_bytes_uint(b, 8), count = jp_bytes_uint(b, 8);
	uint64_t rest = b->len - question_header - 3 * named_file_bytes;
	if (version != request_version || flags > all_flags || dwarf > JP_DWARF_IN_DEBUG || packs > jp_most_packs ||
	    splits > rest / split_bytes || count > rest / offset_bytes || count >= UINT32_MAX)
		return false;
	uint64_t used = packs * named_file_bytes + splits * split_bytes + count * offset_bytes;
	if (used > rest)
		return false;
	r->text_len = (size_t)(rest - used);
	r->text = (const char *)b->data + b->len - r->text_len;
	q->image = flags & image_flag;
	q->allocator = flags & allocator_flag;
	q->functions = flags & functions_flag;
	q->learn = flags & learn_flag;
	q->decode = flags & decode_flag;
	q->is_wrapper = NULL;
	q->dwarf = (enum jp_dwarf_in)dwarf;
	q->pack_count = (size_t)packs;
	q->split_count = (size_t)splits;
	q->count = (size_t)count;
	return !r->text_len || !r->text[r->text_len - 1];
}

static void get_asked_files(struct question_reader *r, struct jp_name_request *q, struct jp_split_answer *splits)
{
	q->object = get_named_file(r);
	q->debug = get_named_file(r);
	q->shared = get_named_file(r);
	for (size_t i = 0; i < q->pack_count; i++)
		q->packs[i] = get_named_file(r);
	for (size_t i = 0; i < q->split_count && !r->wrong; i++)
		get_split(r, &splits[i]);
	r->wrong = r->wrong || q->object.fd < 0;
	for (size_t i = 0; i < q->pack_count; i++)
		r->wrong = r->wrong || q->packs[i].fd < 0;
}

int jp_question_read(const void *data, size_t len, const int *fds, size_t fd_count, struct jp_arena *arena,
                     struct jp_name_request *q, bool *wrappers)
{
	struct question_reader r = { .bytes = { .data = data, .len = len }, .fds = fds, .fd_count = fd_count };
	*q = (struct jp_name_request){ 0 };
	if (!get_question_header(&r, q))
		return JPROF_E_FORMAT;
	jp_bytes_seek(&r.bytes, sizeof request_magic + 4);
	*wrappers = ask32(&r) & wrappers_flag;
	jp_bytes_seek(&r.bytes, question_header);
	struct jp_split_answer *splits = jp_arena_alloc(arena, (q->split_count + 1) * sizeof *splits);
	uint64_t *offsets = jp_arena_alloc(arena, (q->count + 1) * sizeof *offsets);
	if (!splits || !offsets)
		return JPROF_E_NOMEM;
	get_asked_files(&r, q, splits);
	for (size_t i = 0; i < q->count && !r.wrong; i++) {
		offsets[i] = jp_bytes_uint(&r.bytes, offset_bytes);
		r.wrong = i && offsets[i] < offsets[i - 1];
	}
	q->splits = splits;
	q->offsets = offsets;
	return r.wrong || r.bytes.bad ? JPROF_E_FORMAT : 0;
}
