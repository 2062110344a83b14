#include "input/namerequest.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "input/flat.h"

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

/* A question on its way, and the descriptors beside it. */
struct asked {
	struct jp_flat flat;
	struct jp_question *question; /* that is written */
	const int *fds;               /* of one that is read */
	size_t fd_count;
};

static void release_asked(struct asked *a)
{
	jp_flat_release(&a->flat);
}

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

static int pass_fd(struct asked *a, int fd)
{
	struct jp_flat *f = &a->flat;
	uint32_t number = jp_flat_u32(f, f->out ? number_of_fd(a->question, fd) : 0, UINT32_MAX);
	if (f->out)
		return fd;
	f->wrong = f->wrong || (number != JP_NONE && number >= a->fd_count);
	return number == JP_NONE || f->wrong ? -1 : a->fds[number];
}

/* An open file has a path. */
static void pass_file(struct asked *a, struct jp_open_file *file)
{
	file->fd = pass_fd(a, file->fd);
	file->path = jp_flat_text(&a->flat, file->fd < 0 ? NULL : file->path);
	a->flat.wrong = a->flat.wrong || (file->fd >= 0) != (file->path != NULL);
}

static void pass_split(struct asked *a, struct jp_split_answer *split)
{
	struct jp_flat *f = &a->flat;
	split->unit = jp_flat_u64(f, split->unit);
	split->name = jp_flat_text(f, split->name);
	split->why = jp_flat_text(f, split->why);
	split->count = jp_flat_u32(f, split->count, jp_split_places);
	for (unsigned i = 0; i < jp_split_places && !f->wrong; i++) {
		int fd = pass_fd(a, i < split->count ? split->files[i].fd : -1);
		split->files[i] = (struct jp_open_file){ fd, split->name };
		f->wrong = f->wrong || (i < split->count) != (fd >= 0);
	}
	f->wrong = f->wrong || !split->name;
}

static uint32_t pass_question_header(struct jp_flat *f, struct jp_name_request *r)
{
	unsigned flags = (r->image ? image_flag : 0u) | (r->allocator ? allocator_flag : 0u) |
	                 (r->is_wrapper ? wrappers_flag : 0u) | (r->functions ? functions_flag : 0u) |
	                 (r->learn ? learn_flag : 0u) | (r->decode ? decode_flag : 0u);
	jp_flat_begin(f, request_magic, request_version);
	flags = jp_flat_u32(f, flags, all_flags);
	r->image = flags & image_flag;
	r->allocator = flags & allocator_flag;
	r->functions = flags & functions_flag;
	r->learn = flags & learn_flag;
	r->decode = flags & decode_flag;
	r->dwarf = jp_flat_u32(f, r->dwarf, JP_DWARF_IN_DEBUG);
	r->pack_count = jp_flat_u64(f, r->pack_count);
	r->split_count = jp_flat_u64(f, r->split_count);
	r->count = jp_flat_u64(f, r->count);
	return flags;
}

/* What is read goes to `splits` and `offsets`, what is written is the request's. */
static void pass_asked(struct asked *a, struct jp_name_request *r, struct jp_split_answer *splits, uint64_t *offsets)
{
	struct jp_flat *f = &a->flat;
	pass_file(a, &r->object);
	pass_file(a, &r->debug);
	pass_file(a, &r->shared);
	for (size_t i = 0; i < r->pack_count; i++)
		pass_file(a, &r->packs[i]);
	for (size_t i = 0; i < r->split_count && !f->wrong; i++) {
		struct jp_split_answer split = f->out ? r->splits[i] : (struct jp_split_answer){ 0 };
		pass_split(a, &split);
		if (!f->out)
			splits[i] = split;
	}
	for (size_t i = 0; i < r->count && !f->wrong; i++) {
		uint64_t offset = jp_flat_u64(f, f->out ? r->offsets[i] : 0);
		f->wrong = f->wrong || (!f->out && i && offset < offsets[i - 1]);
		if (!f->out)
			offsets[i] = offset;
	}
}

int jp_question_write(const struct jp_name_request *request, struct jp_question *q)
{
	struct asked jp_cleanup(release_asked) a = { .flat.out = &q->bytes, .question = q };
	struct jp_name_request r = *request;
	pass_question_header(&a.flat, &r);
	pass_asked(&a, &r, NULL, NULL);
	jp_strbuf_add(&q->bytes, a.flat.text_len ? a.flat.written.text : "", a.flat.text_len);
	return q->bytes.failed || a.flat.wrong ? -1 : 0;
}

void jp_question_release(struct jp_question *q)
{
	jp_strbuf_release(&q->bytes);
	free(q->fds);
	*q = (struct jp_question){ 0 };
}

/* The numbers of things must fit the bytes that are there; the text is the rest. */
static bool find_asked_text(struct jp_flat *f, const struct jp_name_request *q)
{
	size_t len = f->in.len;
	if (f->wrong || len < question_header + 3 * named_file_bytes)
		return false;
	uint64_t rest = len - question_header - 3 * named_file_bytes;
	if (q->pack_count > jp_most_packs || q->split_count > rest / split_bytes || q->count > rest / offset_bytes ||
	    q->count >= UINT32_MAX)
		return false;
	uint64_t used = q->pack_count * named_file_bytes + q->split_count * split_bytes + q->count * offset_bytes;
	if (used > rest)
		return false;
	f->text_len = (size_t)(rest - used);
	f->text = (const char *)f->in.data + len - f->text_len;
	return !f->text_len || !f->text[f->text_len - 1];
}

int jp_question_read(const void *data, size_t len, const int *fds, size_t fd_count, struct jp_arena *arena,
                     struct jp_name_request *q, bool *wrappers)
{
	struct asked a = { .flat.in = { .data = data, .len = len }, .fds = fds, .fd_count = fd_count };
	*q = (struct jp_name_request){ 0 };
	*wrappers = pass_question_header(&a.flat, q) & wrappers_flag;
	if (!find_asked_text(&a.flat, q))
		return JPROF_E_FORMAT;
	struct jp_split_answer *splits = jp_arena_alloc(arena, (q->split_count + 1) * sizeof *splits);
	uint64_t *offsets = jp_arena_alloc(arena, (q->count + 1) * sizeof *offsets);
	if (!splits || !offsets)
		return JPROF_E_NOMEM;
	pass_asked(&a, q, splits, offsets);
	q->splits = splits;
	q->offsets = offsets;
	for (size_t i = 0; i < q->pack_count; i++)
		a.flat.wrong = a.flat.wrong || q->packs[i].fd < 0;
	return a.flat.wrong || q->object.fd < 0 ? JPROF_E_FORMAT : 0;
}
