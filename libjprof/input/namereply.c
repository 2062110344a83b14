#include "input/namereply.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/reader.h"

enum { reply_version = 3, program_flag = 1, malloc_flag = 2, wrapper_flag = 1, inlined_flag = 1, unit_bytes = 4 };
enum { header_bytes = 56, place_bytes = 44, frame_bytes = 12, function_bytes = 16, want_bytes = 16, loss_bytes = 12 };

static const char reply_magic[8] = { 'j', 'p', 'r', 'o', 'f', 'n', 'a', 'm' };

/* ---- writing ------------------------------------------------------------------------------------ */

struct reply_writer {
	unsigned char *fixed; /* all but the text: its size is known before */
	size_t used;
	struct jp_strbuf text;
	struct jp_intern ids; /* of the strings in it */
	uint32_t *at;         /* their positions, by id */
	size_t at_cap;
	bool failed;
};

static void put32(struct reply_writer *w, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		w->fixed[w->used++] = (unsigned char)(value >> 8 * i);
}

static void put64(struct reply_writer *w, uint64_t value)
{
	put32(w, (uint32_t)value);
	put32(w, (uint32_t)(value >> 32));
}

static uint32_t position_of(struct reply_writer *w, const char *string)
{
	if (!string || w->failed)
		return JP_NONE;
	uint32_t known = w->ids.count, id = jp_intern_str(&w->ids, string);
	if (id == JP_NONE || (id == known && jp_array_push(w->at, known, w->at_cap))) {
		w->failed = true;
		return JP_NONE;
	}
	if (id == known) {
		w->at[id] = (uint32_t)w->text.len;
		jp_strbuf_add(&w->text, string, strlen(string) + 1);
		w->failed = w->text.failed || w->text.len > INT32_MAX;
	}
	return w->at[id];
}

static void put_string(struct reply_writer *w, const char *string)
{
	put32(w, position_of(w, string));
}

static void put_places(struct reply_writer *w, const struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->place_count; i++) {
		const struct jp_reply_place *p = &r->places[i];
		put64(w, p->vaddr);
		put64(w, p->fde_start);
		put64(w, p->fde_end);
		put32(w, p->frame_count);
		put32(w, p->source);
		put32(w, p->reason);
		put32(w, p->want);
		put32(w, p->wrapper ? wrapper_flag : 0);
	}
}

static void put_functions(struct reply_writer *w, const struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->frame_count; i++) {
		put32(w, r->frames[i].function);
		put32(w, r->frames[i].line);
		put32(w, r->frames[i].inlined ? inlined_flag : 0);
	}
	for (uint32_t i = 0; i < r->function_count; i++) {
		put_string(w, r->functions[i].name);
		put_string(w, r->functions[i].brief);
		put_string(w, r->functions[i].linkage);
		put_string(w, r->functions[i].file);
	}
}

static void put_splits(struct reply_writer *w, const struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->want_count; i++) {
		put64(w, r->wants[i].unit);
		put_string(w, r->wants[i].name);
		put_string(w, r->wants[i].dir);
	}
	for (uint32_t i = 0; i < r->loss_count; i++) {
		put64(w, r->losses[i].unit);
		put_string(w, r->losses[i].text);
	}
}

/* The strings come first: then the text is as long as it gets. */
static void put_reply_header(struct reply_writer *w, const struct jp_namereply *r, size_t fixed)
{
	memcpy(w->fixed, reply_magic, sizeof reply_magic);
	w->used = sizeof reply_magic;
	put32(w, reply_version);
	put32(w, (uint32_t)(fixed + w->text.len));
	put32(w, r->dwarf);
	put32(w, (r->program ? program_flag : 0) | (r->exports_malloc ? malloc_flag : 0));
	put_string(w, r->mallctl);
	put_string(w, r->remarks);
	put32(w, r->place_count);
	put32(w, r->frame_count);
	put32(w, r->function_count);
	put32(w, r->want_count);
	put32(w, r->loss_count);
	put32(w, (uint32_t)w->text.len);
}

static uint64_t fixed_size(const struct jp_namereply *r)
{
	return header_bytes + (uint64_t)r->place_count * place_bytes + (uint64_t)r->frame_count * frame_bytes +
	       (uint64_t)r->function_count * function_bytes + (uint64_t)r->want_count * want_bytes +
	       (uint64_t)r->loss_count * loss_bytes;
}

static void put_all(struct reply_writer *w, const struct jp_namereply *r, size_t fixed)
{
	position_of(w, r->mallctl);
	position_of(w, r->remarks);
	w->used = header_bytes;
	put_places(w, r);
	put_functions(w, r);
	put_splits(w, r);
	while (w->text.len % unit_bytes && !w->text.failed)
		jp_strbuf_add(&w->text, "", 1);
	put_reply_header(w, r, fixed);
}

void jp_namereply_write(const struct jp_namereply *reply, struct jp_strbuf *out)
{
	uint64_t fixed = fixed_size(reply);
	struct reply_writer w = { .fixed = fixed <= INT32_MAX ? malloc((size_t)fixed) : NULL };
	if (w.fixed)
		put_all(&w, reply, (size_t)fixed);
	if (!w.fixed || w.failed || w.text.failed || fixed + w.text.len > INT32_MAX) {
		out->failed = true;
	} else {
		jp_strbuf_add(out, w.fixed, (size_t)fixed);
		jp_strbuf_add(out, w.text.len ? w.text.text : "", w.text.len);
	}
	jp_strbuf_release(&w.text);
	jp_intern_release(&w.ids);
	free(w.at);
	free(w.fixed);
}

/* ---- reading ------------------------------------------------------------------------------------ */

struct reply_reader {
	struct jp_bytes bytes;
	struct jp_namereply *reply;
	const char *text; /* of the arena */
	uint32_t text_len;
	bool wrong;
};

static uint32_t get32(struct reply_reader *r)
{
	return (uint32_t)jp_bytes_uint(&r->bytes, 4);
}

static uint64_t get64(struct reply_reader *r)
{
	return jp_bytes_uint(&r->bytes, 8);
}

/* A number below `end`. */
static uint32_t get_below(struct reply_reader *r, uint32_t end)
{
	uint32_t value = get32(r);
	r->wrong = r->wrong || value >= end;
	return value;
}

static const char *string_at(struct reply_reader *r, uint32_t position)
{
	if (position == JP_NONE)
		return NULL;
	r->wrong = r->wrong || position >= r->text_len;
	return r->wrong ? NULL : r->text + position;
}

static const char *get_string(struct reply_reader *r)
{
	return string_at(r, get32(r));
}

/* One that must be there. */
static const char *get_given_string(struct reply_reader *r)
{
	const char *string = get_string(r);
	r->wrong = r->wrong || !string;
	return string;
}

static void get_places(struct reply_reader *r)
{
	struct jp_namereply *reply = r->reply;
	uint64_t frames = 0;
	for (uint32_t i = 0; i < reply->place_count; i++) {
		struct jp_reply_place *p = &reply->places[i];
		p->vaddr = get64(r);
		p->fde_start = get64(r);
		p->fde_end = get64(r);
		p->frame_first = (uint32_t)frames;
		p->frame_count = get32(r);
		p->source = get_below(r, JPROF_SOURCE_DWARF + 1);
		p->reason = get_below(r, jp_nameless_count);
		p->want = get32(r);
		p->wrapper = get_below(r, 2 * wrapper_flag);
		frames += p->frame_count;
		bool pending = p->reason == JP_NAMELESS_PENDING;
		if (frames > reply->frame_count || p->fde_start > p->fde_end || p->source == JPROF_SOURCE_JIT ||
		    (pending ? p->want >= reply->want_count : p->want != JP_NONE) ||
		    (p->reason == JP_NAMELESS_OUTSIDE && (p->frame_count || p->source != JPROF_SOURCE_NONE)))
			r->wrong = true;
		if (r->wrong)
			return;
	}
	r->wrong = frames != reply->frame_count;
}

static void get_functions(struct reply_reader *r)
{
	struct jp_namereply *reply = r->reply;
	for (uint32_t i = 0; i < reply->frame_count && !r->wrong; i++) {
		reply->frames[i].function = get_below(r, reply->function_count);
		reply->frames[i].line = get32(r);
		reply->frames[i].inlined = get_below(r, 2 * inlined_flag);
	}
	for (uint32_t i = 0; i < reply->function_count && !r->wrong; i++) {
		struct jp_reply_function *f = &reply->functions[i];
		f->name = get_string(r);
		f->brief = get_string(r);
		f->linkage = get_string(r);
		f->file = get_string(r);
		r->wrong = r->wrong || !f->name != !f->linkage || !f->brief != !f->linkage;
	}
}

static void get_splits(struct reply_reader *r)
{
	struct jp_namereply *reply = r->reply;
	for (uint32_t i = 0; i < reply->want_count && !r->wrong; i++) {
		reply->wants[i].unit = get64(r);
		reply->wants[i].name = get_given_string(r);
		reply->wants[i].dir = get_string(r);
	}
	for (uint32_t i = 0; i < reply->loss_count && !r->wrong; i++) {
		reply->losses[i].unit = get64(r);
		reply->losses[i].text = get_given_string(r);
	}
}

/* The numbers of things must add up to the bytes that are there: so none asks for more memory than a few times those.
 */
static bool get_header(struct reply_reader *r)
{
	struct jp_namereply *reply = r->reply;
	size_t len = r->bytes.len;
	if (len < header_bytes || memcmp(r->bytes.data, reply_magic, sizeof reply_magic))
		return false;
	jp_bytes_seek(&r->bytes, sizeof reply_magic);
	if (get32(r) != reply_version || get32(r) != len)
		return false;
	reply->dwarf = get_below(r, jp_dwarf_state_count);
	uint32_t flags = get_below(r, 2 * malloc_flag);
	reply->program = flags & program_flag;
	reply->exports_malloc = flags & malloc_flag;
	jp_bytes_seek(&r->bytes, r->bytes.pos + 8); /* two strings: read when the text is there */
	reply->place_count = get32(r);
	reply->frame_count = get32(r);
	reply->function_count = get32(r);
	reply->want_count = get32(r);
	reply->loss_count = get32(r);
	r->text_len = get32(r);
	uint64_t all = header_bytes + (uint64_t)reply->place_count * place_bytes +
	               (uint64_t)reply->frame_count * frame_bytes + (uint64_t)reply->function_count * function_bytes +
	               (uint64_t)reply->want_count * want_bytes + (uint64_t)reply->loss_count * loss_bytes +
	               r->text_len;
	return !r->wrong && all == len && r->text_len % unit_bytes == 0 && (!r->text_len || !r->bytes.data[len - 1]);
}

static int make_reply_room(struct reply_reader *r)
{
	struct jp_namereply *reply = r->reply;
	struct jp_arena *arena = &reply->arena;
	r->text = jp_arena_dup(arena, r->bytes.data + r->bytes.len - r->text_len, r->text_len);
	reply->places = jp_arena_alloc(arena, ((size_t)reply->place_count + 1) * sizeof *reply->places);
	reply->frames = jp_arena_alloc(arena, ((size_t)reply->frame_count + 1) * sizeof *reply->frames);
	reply->functions = jp_arena_alloc(arena, ((size_t)reply->function_count + 1) * sizeof *reply->functions);
	reply->wants = jp_arena_alloc(arena, ((size_t)reply->want_count + 1) * sizeof *reply->wants);
	reply->losses = jp_arena_alloc(arena, ((size_t)reply->loss_count + 1) * sizeof *reply->losses);
	return r->text && reply->places && reply->frames && reply->functions && reply->wants && reply->losses ? 0 : -1;
}

int jp_namereply_read(const void *data, size_t len, struct jp_namereply *reply)
{
	struct reply_reader r = { .bytes = { .data = data, .len = len }, .reply = reply };
	*reply = (struct jp_namereply){ 0 };
	if (!get_header(&r))
		return JPROF_E_FORMAT;
	if (make_reply_room(&r))
		return JPROF_E_NOMEM;
	jp_bytes_seek(&r.bytes, sizeof reply_magic + 16);
	reply->mallctl = get_string(&r);
	reply->remarks = get_string(&r);
	jp_bytes_seek(&r.bytes, header_bytes);
	if (!r.wrong)
		get_places(&r);
	if (!r.wrong)
		get_functions(&r);
	if (!r.wrong)
		get_splits(&r);
	return r.wrong || r.bytes.bad ? JPROF_E_FORMAT : 0;
}

void jp_namereply_release(struct jp_namereply *reply)
{
	jp_arena_release(&reply->arena);
	*reply = (struct jp_namereply){ 0 };
}
