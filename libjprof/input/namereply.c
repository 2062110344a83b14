#include "input/namereply.h"

#include <string.h>

#include "input/flat.h"

enum {
	reply_version = 3,
	program_flag = 1,
	malloc_flag = 2,
	kept_flag = 4,
	nameless_flag = 8,
	all_reply_flags = 15,
	wrapper_flag = 1,
	inlined_flag = 1,
	unit_bytes = 4
};
enum {
	sum_bytes = 8,
	header_bytes = 56,
	place_bytes = 44,
	frame_bytes = 12,
	function_bytes = 16,
	want_bytes = 16,
	loss_bytes = 12,
	offset_bytes = 8,
	kept_bytes = 4 + sum_bytes
};

static const char reply_magic[8] = { 'j', 'p', 'r', 'o', 'f', 'n', 'a', 'm' };

bool jp_is_refusal(const struct jp_namereply *reply)
{
	return reply->dwarf == JP_DWARF_REFUSED || reply->dwarf == JP_DWARF_SHARED_REFUSED;
}

/* ---- either way ----------------------------------------------------------------------------------- */

/* What the sections before the text have. */
static uint64_t fixed_size(const struct jp_namereply *r)
{
	return header_bytes + (uint64_t)r->place_count * place_bytes + (uint64_t)r->frame_count * frame_bytes +
	       (uint64_t)r->function_count * function_bytes + (uint64_t)r->want_count * want_bytes +
	       (uint64_t)r->loss_count * loss_bytes;
}

/* And those behind it. */
static uint64_t kept_size(const struct jp_namereply *r, bool kept)
{
	return kept ? (uint64_t)r->place_count * offset_bytes + kept_bytes : 0;
}

/* False: it is not kept. *size and the text's length are written and read. */
static bool pass_header(struct jp_flat *f, struct jp_namereply *r, uint32_t *size)
{
	uint32_t flags = (r->program ? program_flag : 0) | (r->exports_malloc ? malloc_flag : 0) |
	                 (r->offsets ? kept_flag : 0) | (r->nameless ? nameless_flag : 0);
	jp_flat_begin(f, reply_magic, reply_version);
	*size = jp_flat_u32(f, *size, UINT32_MAX);
	r->dwarf = jp_flat_u32(f, r->dwarf, jp_dwarf_state_count - 1);
	flags = jp_flat_u32(f, flags, all_reply_flags);
	r->program = flags & program_flag;
	r->exports_malloc = flags & malloc_flag;
	r->nameless = flags & nameless_flag;
	r->mallctl = jp_flat_text(f, r->mallctl);
	r->remarks = jp_flat_text(f, r->remarks);
	r->place_count = jp_flat_u32(f, r->place_count, UINT32_MAX);
	r->frame_count = jp_flat_u32(f, r->frame_count, UINT32_MAX);
	r->function_count = jp_flat_u32(f, r->function_count, UINT32_MAX);
	r->want_count = jp_flat_u32(f, r->want_count, UINT32_MAX);
	r->loss_count = jp_flat_u32(f, r->loss_count, UINT32_MAX);
	f->text_len = jp_flat_u32(f, (uint32_t)f->text_len, UINT32_MAX);
	return flags & kept_flag;
}

static bool is_sound_place(const struct jp_reply_place *p, const struct jp_namereply *r)
{
	bool wants = p->reason == JP_NAMELESS_PENDING ? p->want < r->want_count : p->want == JP_NONE;
	return wants && p->fde_start <= p->fde_end && p->source != JPROF_SOURCE_JIT &&
	       (p->reason != JP_NAMELESS_OUTSIDE || (!p->frame_count && p->source == JPROF_SOURCE_NONE));
}

static void pass_places(struct jp_flat *f, struct jp_namereply *r)
{
	uint64_t frames = 0;
	for (uint32_t i = 0; i < r->place_count && !f->wrong; i++) {
		struct jp_reply_place *p = &r->places[i];
		p->vaddr = jp_flat_u64(f, p->vaddr);
		p->fde_start = jp_flat_u64(f, p->fde_start);
		p->fde_end = jp_flat_u64(f, p->fde_end);
		p->frame_first = (uint32_t)frames;
		p->frame_count = jp_flat_u32(f, p->frame_count, UINT32_MAX);
		p->source = jp_flat_u32(f, p->source, JPROF_SOURCE_DWARF);
		p->reason = jp_flat_u32(f, p->reason, jp_nameless_count - 1);
		p->want = jp_flat_u32(f, p->want, UINT32_MAX);
		p->wrapper = jp_flat_u32(f, p->wrapper, wrapper_flag);
		frames += p->frame_count;
		f->wrong = f->wrong || (!f->out && (frames > r->frame_count || !is_sound_place(p, r)));
	}
	f->wrong = f->wrong || (!f->out && frames != r->frame_count);
}

static void pass_functions(struct jp_flat *f, struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->frame_count && !f->wrong; i++) {
		struct jp_reply_frame *frame = &r->frames[i];
		frame->function = jp_flat_u32(f, frame->function, r->function_count - 1);
		frame->line = jp_flat_u32(f, frame->line, UINT32_MAX);
		frame->inlined = jp_flat_u32(f, frame->inlined, inlined_flag);
		f->wrong = f->wrong || (!f->out && !r->function_count);
	}
	for (uint32_t i = 0; i < r->function_count && !f->wrong; i++) {
		struct jp_reply_function *function = &r->functions[i];
		function->name = jp_flat_text(f, function->name);
		function->brief = jp_flat_text(f, function->brief);
		function->linkage = jp_flat_text(f, function->linkage);
		function->file = jp_flat_text(f, function->file);
		f->wrong =
		    f->wrong ||
		    (!f->out && (!function->name != !function->linkage || !function->brief != !function->linkage));
	}
}

static void pass_splits(struct jp_flat *f, struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->want_count && !f->wrong; i++) {
		r->wants[i].unit = jp_flat_u64(f, r->wants[i].unit);
		r->wants[i].name = jp_flat_text(f, r->wants[i].name);
		r->wants[i].dir = jp_flat_text(f, r->wants[i].dir);
		f->wrong = f->wrong || (!f->out && !r->wants[i].name);
	}
	for (uint32_t i = 0; i < r->loss_count && !f->wrong; i++) {
		r->losses[i].unit = jp_flat_u64(f, r->losses[i].unit);
		r->losses[i].text = jp_flat_text(f, r->losses[i].text);
		f->wrong = f->wrong || (!f->out && !r->losses[i].text);
	}
}

/* Behind the text, but for the sum. No refusal is kept, which may have come of a shortage of memory. */
static void pass_kept(struct jp_flat *f, struct jp_namereply *r)
{
	for (uint32_t i = 0; i < r->place_count && !f->wrong; i++) {
		r->offsets[i] = jp_flat_u64(f, r->offsets[i]);
		f->wrong = f->wrong || (!f->out && i && r->offsets[i] <= r->offsets[i - 1]);
	}
	r->identity = jp_flat_text(f, r->identity);
	f->wrong = f->wrong || (!f->out && (!r->identity || r->want_count || r->loss_count || jp_is_refusal(r)));
}

/* ---- writing -------------------------------------------------------------------------------------- */

void jp_namereply_write(const struct jp_namereply *reply, struct jp_strbuf *out)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) head = { 0 }, body = { 0 }, kept = { 0 };
	struct jp_flat jp_cleanup(jp_flat_release) f = { .out = &body };
	struct jp_namereply r = *reply;
	size_t start = out->len;
	uint32_t size = 0;
	pass_places(&f, &r);
	pass_functions(&f, &r);
	pass_splits(&f, &r);
	f.out = &kept;
	if (r.offsets)
		pass_kept(&f, &r);
	f.out = &head;
	pass_header(&f, &r, &size); /* now the text has all strings; next its size is known */
	while (f.written.len % unit_bytes && !f.written.failed)
		jp_strbuf_add(&f.written, "", 1);
	f.text_len = f.written.len;
	uint64_t all = fixed_size(&r) + f.text_len + kept_size(&r, r.offsets);
	size = (uint32_t)all;
	jp_strbuf_cut(&head, 0);
	pass_header(&f, &r, &size);
	out->failed =
	    out->failed || f.wrong || f.written.failed || head.failed || body.failed || kept.failed || all > INT32_MAX;
	if (out->failed)
		return;
	jp_strbuf_add(out, head.text, head.len);
	jp_strbuf_add(out, body.len ? body.text : "", body.len);
	jp_strbuf_add(out, f.text_len ? f.written.text : "", f.text_len);
	jp_strbuf_add(out, kept.len ? kept.text : "", kept.len);
	if (r.offsets && !out->failed)
		jp_strbuf_uint(out, jp_hash(reply_version, out->text + start, out->len - start), sum_bytes);
}

/* ---- reading -------------------------------------------------------------------------------------- */

bool jp_is_namereply(const void *data, size_t len)
{
	return len >= sizeof reply_magic && !memcmp(data, reply_magic, sizeof reply_magic);
}

/* The numbers of things must add up to the bytes that are there: so none asks for more memory than a few times those.
 */
static bool is_whole(const struct jp_flat *f, const struct jp_namereply *r, uint32_t size, bool kept)
{
	size_t len = f->in.len, text_end = len - (size_t)kept_size(r, kept);
	if (f->wrong || size != len || fixed_size(r) + f->text_len + kept_size(r, kept) != len ||
	    f->text_len % unit_bytes || (f->text_len && f->in.data[text_end - 1]))
		return false;
	struct jp_bytes sum = { .data = f->in.data, .len = len };
	jp_bytes_seek(&sum, len - sum_bytes);
	return !kept || jp_bytes_uint(&sum, sum_bytes) == jp_hash(reply_version, sum.data, len - sum_bytes);
}

static int make_reply_room(struct jp_flat *f, struct jp_namereply *r, bool kept)
{
	struct jp_arena *arena = &r->arena;
	f->text = jp_arena_dup(arena, f->in.data + fixed_size(r), f->text_len);
	r->places = jp_arena_alloc(arena, ((size_t)r->place_count + 1) * sizeof *r->places);
	r->frames = jp_arena_alloc(arena, ((size_t)r->frame_count + 1) * sizeof *r->frames);
	r->functions = jp_arena_alloc(arena, ((size_t)r->function_count + 1) * sizeof *r->functions);
	r->wants = jp_arena_alloc(arena, ((size_t)r->want_count + 1) * sizeof *r->wants);
	r->losses = jp_arena_alloc(arena, ((size_t)r->loss_count + 1) * sizeof *r->losses);
	if (kept)
		r->offsets = jp_arena_alloc(arena, ((size_t)r->place_count + 1) * sizeof *r->offsets);
	return f->text && r->places && r->frames && r->functions && r->wants && r->losses && !kept == !r->offsets ? 0
	                                                                                                          : -1;
}

int jp_namereply_read(const void *data, size_t len, struct jp_namereply *reply)
{
	struct jp_flat f = { .in = { .data = data, .len = len } };
	uint32_t size = 0;
	*reply = (struct jp_namereply){ 0 };
	bool kept = pass_header(&f, reply, &size);
	if (!is_whole(&f, reply, size, kept))
		return JPROF_E_FORMAT;
	if (make_reply_room(&f, reply, kept))
		return JPROF_E_NOMEM;
	jp_bytes_seek(&f.in, 0);
	pass_header(&f, reply, &size); /* now its strings, too */
	pass_places(&f, reply);
	pass_functions(&f, reply);
	pass_splits(&f, reply);
	jp_bytes_seek(&f.in, fixed_size(reply) + f.text_len);
	if (kept && !f.wrong)
		pass_kept(&f, reply);
	return f.wrong ? JPROF_E_FORMAT : 0;
}

void jp_namereply_release(struct jp_namereply *reply)
{
	jp_arena_release(&reply->arena);
	*reply = (struct jp_namereply){ 0 };
}
