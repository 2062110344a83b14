#include "machine/references.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/index.h"
#include "base/reader.h"
#include "base/search.h"
#include "machine/follow.h"

enum { longest_stub = 6, page_size = 4096, mark_bits = 14, marks = 1 << mark_bits };

/* An address of interest, and the function that it leads to; JP_NONE: one of Ruby's. */
struct target {
	uint64_t at; /* first, for jp_last_up_to */
	uint32_t function;
};

/* Functions begin at multiples of 16, so that the last bits of an address alone would tell few apart. */
static unsigned mark_of(uint64_t number)
{
	return (uint32_t)number * 0x9e3779b1u >> (32 - mark_bits);
}

enum reference_kind { REFERS, CALLS, JUMPS, JUMPS_NEAR };

/* How far a function was read for short jumps. */
struct jump_cursor {
	uint32_t function;
	uint64_t at;
	struct jp_insn insn; /* the one that ends there */
	bool lost;           /* what comes cannot be read */
};

/* A search under way: the first is for calls of Ruby's functions, the second for what leads to the functions that have
 * such calls. Most places are done with at once, for nothing of interest has their mark, or that of their page. */
struct reference_search {
	const struct jp_image *image;
	struct jp_references *out;
	struct target *targets; /* ascending */
	size_t target_count, target_cap;
	unsigned char marked[marks];
	unsigned char pages[marks]; /* with sighted functions */
	uint32_t function;          /* that is being read; JP_NONE: none */
	struct jump_cursor cursor;
	bool for_ruby; /* the first: its functions are called from afar */
	bool failed;
};

/* ---- stubs ---------------------------------------------------------------------------------------- */

/* A stub that is being followed, and the last word of the loader's that it read. */
struct stub_walk {
	const struct jp_image *image;
	uint64_t slot;
};

static struct jp_value load_slot_of_loader(void *context, struct jp_value place)
{
	struct stub_walk *w = context;
	const struct jp_reloc *reloc = place.kind == JP_VALUE_ADDRESS ? jp_image_reloc(w->image, place.number) : NULL;
	if (!reloc)
		return (struct jp_value){ 0 };
	w->slot = place.number;
	if (reloc->symbol == JP_NONE)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = reloc->value };
	uint64_t value = w->image->symbols[reloc->symbol].value;
	if (value)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = value + reloc->value };
	return (struct jp_value){ .kind = JP_VALUE_SYMBOL, .id = reloc->symbol };
}

/* Where it goes on. */
static struct jp_value follow_stub(struct stub_walk *w, uint64_t at)
{
	const struct jp_calling *calling = jp_calling_of(w->image->machine);
	const struct jp_memory memory = { w, load_slot_of_loader, jp_store_nothing };
	const struct jp_piece *piece = jp_image_piece(w->image, at);
	struct jp_registers r;
	if (!calling || !piece || !piece->stubs)
		return (struct jp_value){ 0 };
	jp_registers_begin(&r, calling);
	for (unsigned i = 0; i < longest_stub; i++) {
		struct jp_insn insn;
		size_t room;
		const unsigned char *code = jp_image_bytes(w->image, at, &room);
		if (!code || !calling->decode(code, room, at, &insn) || insn.kind == JP_INSN_END)
			break;
		if (insn.kind == JP_INSN_JUMP_TO || insn.kind == JP_INSN_JUMP_BY)
			return jp_insn_target(&r, &insn, &memory);
		jp_registers_apply(&r, &insn, &memory);
		at += insn.len;
	}
	return (struct jp_value){ 0 };
}

uint64_t jp_stub_target(const struct jp_image *image, uint64_t address, uint32_t *symbol)
{
	struct jp_value target = follow_stub(&(struct stub_walk){ .image = image }, address);
	*symbol = target.kind == JP_VALUE_SYMBOL ? target.id : JP_NONE;
	return target.kind == JP_VALUE_ADDRESS ? target.number : address;
}

uint64_t jp_stub_slot(const struct jp_image *image, uint64_t address)
{
	struct stub_walk w = { .image = image };
	return follow_stub(&w, address).kind == JP_VALUE_UNKNOWN ? 0 : w.slot;
}

/* ---- what is looked for --------------------------------------------------------------------------- */

static int add_target(struct reference_search *h, uint64_t at, uint32_t function)
{
	if (jp_array_push(h->targets, h->target_count, h->target_cap))
		return -1;
	h->targets[h->target_count++] = (struct target){ at, function };
	h->marked[mark_of(at)] = 1;
	return 0;
}

static bool is_sighted(const struct reference_search *h, const struct jp_function_bounds *f)
{
	const struct jp_references *out = h->out;
	uint32_t function = f ? (uint32_t)(f - h->image->functions) : JP_NONE;
	return f && bsearch(&function, out->sightings, out->sighting_count, sizeof function, jp_by_number);
}

static int add_stubs(struct reference_search *h, const struct jp_piece *piece)
{
	int rc = 0;
	for (uint64_t at = piece->start; !rc && at - piece->start < piece->len; at += 8) {
		uint32_t symbol;
		const struct jp_function_bounds *f = jp_image_begins(h->image, jp_stub_target(h->image, at, &symbol));
		if (f && f->start != at && is_sighted(h, f))
			rc = add_target(h, at, (uint32_t)(f - h->image->functions));
	}
	return rc;
}

/* The functions that were sighted, also by stubs of the linker, and their pages. */
static int add_sighted(struct reference_search *h)
{
	const struct jp_image *image = h->image;
	int rc = 0;
	for (size_t i = 0; !rc && i < h->out->sighting_count; i++) {
		const struct jp_function_bounds *f = &image->functions[h->out->sightings[i]];
		rc = add_target(h, f->start, h->out->sightings[i]);
		for (uint64_t page = f->start / page_size; page <= (f->end - 1) / page_size; page++)
			h->pages[mark_of(page)] = 1;
	}
	for (size_t i = 0; !rc && i < image->piece_count; i++)
		if (image->pieces[i].stubs)
			rc = add_stubs(h, &image->pieces[i]);
	if (!rc && h->target_count)
		qsort(h->targets, h->target_count, sizeof *h->targets, jp_by_first);
	return rc;
}

/* ---- what is found -------------------------------------------------------------------------------- */

static void sight(struct reference_search *h)
{
	struct jp_references *out = h->out;
	if (h->function == JP_NONE || (out->sighting_count && out->sightings[out->sighting_count - 1] == h->function))
		return;
	if (jp_array_push(out->sightings, out->sighting_count, out->sighting_cap))
		h->failed = true;
	else
		out->sightings[out->sighting_count++] = h->function;
}

/* Whether the instruction at `at`, or around it, is a jump to there, read from the begin of its function on. What
 * cannot be read may be one. */
static bool is_jump(struct reference_search *h, uint64_t at, uint64_t to)
{
	const struct jp_calling *calling = jp_calling_of(h->image->machine);
	struct jump_cursor *c = &h->cursor;
	if (h->function == JP_NONE)
		return true;
	if (c->function != h->function)
		*c = (struct jump_cursor){ .function = h->function, .at = h->image->functions[h->function].start };
	while (!c->lost && c->at <= at) {
		size_t room;
		const unsigned char *code = jp_image_bytes(h->image, c->at, &room);
		c->lost = !code || !calling->decode(code, room, c->at, &c->insn);
		c->at += c->lost ? 0 : c->insn.len;
	}
	return c->lost || (c->insn.value == to && (c->insn.kind == JP_INSN_JUMP || c->insn.kind == JP_INSN_BRANCH));
}

/* What looks like a jump into the middle of a sighted function, from another one. */
static void note_entry(struct reference_search *h, uint64_t at, uint64_t address)
{
	const struct jp_function_bounds *own = h->function == JP_NONE ? NULL : &h->image->functions[h->function];
	struct jp_references *out = h->out;
	if ((own && address >= own->start && address < own->end) ||
	    !is_sighted(h, jp_image_function(h->image, address)) || !is_jump(h, at, address))
		return;
	if (jp_array_push(out->entries, out->entry_count, out->entry_cap))
		h->failed = true;
	else
		out->entries[out->entry_count++] = address;
}

/* The function being read may mean `address`, `at` in its code. A call of itself, or a loop, is none. */
static void note_reference(struct reference_search *h, uint64_t at, uint64_t address, enum reference_kind kind)
{
	const struct target *t =
	    h->marked[mark_of(address)] ? jp_last_up_to(h->targets, h->target_count, sizeof *t, address) : NULL;
	if (!t || t->at != address) {
		if (kind == JUMPS && h->pages[mark_of(address / page_size)])
			note_entry(h, at, address);
	} else if (t->function == JP_NONE) {
		sight(h);
	} else if (kind == REFERS) {
		h->out->uses[t->function].taken = true;
	} else if (t->function != h->function && (kind != JUMPS_NEAR || is_jump(h, at, address))) {
		h->out->uses[t->function].calls++;
	}
}

/* ---- x86-64: bytes behind what may make them a distance ------------------------------------------------------- */

typedef unsigned char lanes __attribute__((vector_size(16)));

/* Which of 64 bytes of code may refer to something, a bit for each. Source: the instruction set reference. */
struct x86_places {
	uint64_t
	    distances; /* calls and jumps; the ModRM byte of an operand whose place counts from its instruction's end */
	uint64_t branches; /* of two bytes; their distance has four, too */
	uint64_t shorts;   /* of one byte; an assembler takes such to a function that is near */
};

/* A bit for each byte that is not 0 in `set`, whose bytes are 0 or 255. */
static uint64_t bits_of(lanes set)
{
	typedef uint64_t words __attribute__((vector_size(16)));
	static const lanes bits = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	static const uint64_t add = UINT64_C(0x0101010101010101);
	words each = (words)(set & bits);
	return each[0] * add >> 56 | each[1] * add >> 56 << 8;
}

/* `code` has 65 bytes. No branch of ours depends on them: the processor would guess it wrong at every tenth. */
static struct x86_places places_in(const unsigned char *code)
{
	struct x86_places found = { 0 };
	for (unsigned i = 0; i < 64; i += sizeof(lanes)) {
		lanes byte, next;
		memcpy(&byte, code + i, sizeof byte);
		memcpy(&next, code + i + 1, sizeof next);
		found.distances |= bits_of((lanes)((byte & 0xfe) == 0xe8) | (lanes)((byte & 0xc7) == 0x05)) << i;
		found.shorts |=
		    bits_of((lanes)(byte == 0xeb) | (lanes)((byte & 0xf0) == 0x70) | (lanes)((byte & 0xfc) == 0xe0))
		    << i;
		found.branches |= bits_of((lanes)(byte == 0x0f) & (lanes)((next & 0xf0) == 0x80)) << i;
	}
	return found;
}

/* The place at `i` of a code of `len` bytes at `start`; its distance ends `wide` bytes behind. */
static void note_place(struct reference_search *h, const unsigned char *code, size_t len, uint64_t start, size_t i,
                       size_t wide, enum reference_kind kind)
{
	if (wide > len - i)
		return;
	int32_t distance = kind == JUMPS_NEAR ? (int8_t)code[i + 1] : (int32_t)jp_little_word(code + i + wide - 4);
	note_reference(h, start + i + (wide == 6), start + i + wide + (uint64_t)(int64_t)distance, kind);
}

static void read_x86(struct reference_search *h, const unsigned char *code, size_t len, uint64_t start)
{
	unsigned char last[65] = { 0 };
	for (size_t block = 0; block < len; block += 64) {
		bool whole = len - block >= sizeof last;
		if (!whole)
			memcpy(last, code + block, len - block);
		struct x86_places found = places_in(whole ? code + block : last);
		if (h->for_ruby)
			found.branches = found.shorts = 0;
		for (uint64_t set = found.distances | found.branches | found.shorts; set; set &= set - 1) {
			size_t bit = (size_t)__builtin_ctzll(set), i = block + bit;
			bool branch = found.branches >> bit & 1, near = found.shorts >> bit & 1;
			enum reference_kind kind = code[i] == 0xe8 ? CALLS : code[i] == 0xe9 || branch ? JUMPS : REFERS;
			note_place(h, code, len, start, i, near ? 2 : branch ? 6 : 5, near ? JUMPS_NEAR : kind);
		}
	}
	for (size_t i = 1; h->image->placed && i + 4 <= len; i++)
		note_reference(h, start + i, jp_little_word(code + i), REFERS);
}

/* ---- AArch64: pages and what is added to them -------------------------------------------------------- */

static void read_arm(struct reference_search *h, const unsigned char *code, size_t len, uint64_t start)
{
	const struct jp_calling *calling = jp_calling_of(EM_AARCH64);
	uint64_t pages[JP_REGISTERS] = { 0 };
	for (size_t i = start % 4 ? len : 0; i + 4 <= len; i += 4) {
		struct jp_insn insn;
		if (!calling->decode(code + i, 4, start + i, &insn))
			continue;
		switch (insn.kind) {
		case JP_INSN_CALL: note_reference(h, start + i, insn.value, CALLS); break;
		case JP_INSN_JUMP:
		case JP_INSN_BRANCH: note_reference(h, start + i, insn.value, JUMPS); break;
		case JP_INSN_ADDRESS:
			if (insn.dst < JP_REGISTERS)
				pages[insn.dst] = insn.value;
			note_reference(h, start + i, insn.value, REFERS);
			break;
		case JP_INSN_ADD:
		case JP_INSN_LOAD:
			if (insn.base < JP_REGISTERS)
				note_reference(h, start + i, pages[insn.base] + (uint64_t)insn.disp, REFERS);
			break;
		default: break;
		}
	}
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static void search_span(struct reference_search *h, const struct jp_piece *piece, uint64_t start, uint64_t end)
{
	const unsigned char *code = piece->bytes + (start - piece->start);
	if (end <= start)
		return;
	if (h->image->machine == EM_X86_64)
		read_x86(h, code, (size_t)(end - start), start);
	else
		read_arm(h, code, (size_t)(end - start), start);
}

/* Functions, and what lies between them. */
static void search_piece(struct reference_search *h, const struct jp_piece *piece)
{
	const struct jp_image *image = h->image;
	uint64_t at = piece->start, end = piece->start + piece->len;
	size_t i = jp_count_below(image->functions, image->function_count, sizeof *image->functions, at);
	for (; i < image->function_count && image->functions[i].start < end; i++) {
		const struct jp_function_bounds *f = &image->functions[i];
		h->function = JP_NONE;
		if (at < f->start)
			search_span(h, piece, at, f->start);
		h->function = (uint32_t)i;
		at = f->end < end ? f->end : end;
		search_span(h, piece, f->start, at);
	}
	h->function = JP_NONE;
	search_span(h, piece, at, end);
}

/* Addresses in data: what the loader relocates, and in a program that is linked to an address every word. */
static void search_data(struct reference_search *h)
{
	const struct jp_image *image = h->image;
	h->function = JP_NONE;
	for (size_t i = 0; i < image->reloc_count; i++)
		if (image->relocs[i].symbol == JP_NONE)
			note_reference(h, 0, image->relocs[i].value, REFERS);
	for (size_t p = 0; image->placed && p < image->piece_count; p++) {
		uint64_t word;
		for (size_t i = 0; !image->pieces[p].code && i + 8 <= image->pieces[p].len; i += 8)
			if (jp_image_word(image, image->pieces[p].start + i, &word))
				note_reference(h, 0, word, REFERS);
	}
}

static void search_code(struct reference_search *h)
{
	for (size_t i = 0; i < h->image->piece_count; i++)
		if (h->image->pieces[i].code && !h->image->pieces[i].stubs)
			search_piece(h, &h->image->pieces[i]);
}

int jp_references_find(const struct jp_image *image, const uint64_t *watches, size_t watch_count,
                       struct jp_references *out)
{
	struct reference_search h = { .cursor.function = JP_NONE, .for_ruby = true, .image = image, .out = out };
	*out = (struct jp_references){ .uses = calloc(image->function_count + 1, sizeof *out->uses) };
	int rc = out->uses ? 0 : -1;
	for (size_t i = 0; !rc && i < watch_count; i++)
		rc = add_target(&h, watches[i], JP_NONE);
	if (!rc && jp_calling_of(image->machine))
		search_code(&h);
	h.for_ruby = false;
	h.target_count = 0;
	memset(h.marked, 0, sizeof h.marked);
	if (!rc && !h.failed && out->sighting_count)
		rc = add_sighted(&h);
	if (!rc && h.target_count) {
		search_code(&h);
		search_data(&h);
	}
	if (out->entry_count)
		qsort(out->entries, out->entry_count, sizeof *out->entries, jp_by_first);
	free(h.targets);
	return rc || h.failed ? -1 : 0;
}

void jp_references_release(struct jp_references *r)
{
	free(r->uses);
	free(r->sightings);
	free(r->entries);
	*r = (struct jp_references){ 0 };
}
