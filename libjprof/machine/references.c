#include "machine/references.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/index.h"
#include "base/search.h"
#include "machine/follow.h"

enum { most_span = 1 << 28, longest_stub = 6, page_size = 4096 };

/* A stub of the linker, and the function of the file that it leads to. */
struct stub {
	uint64_t at; /* first, for jp_last_up_to */
	uint32_t function;
};

/* How far a function was read, for entries in ascending order. */
struct jump_cursor {
	uint32_t function;
	uint64_t at;
	struct jp_insn insn; /* the one that ends there */
	bool lost;           /* what comes cannot be read */
};

/* A search under way. Addresses of interest have a bit each, so that most places are done with at once. */
struct reference_search {
	const struct jp_image *image;
	const uint64_t *watches;
	size_t watch_count;
	struct jp_references *out;
	uint64_t low, span;
	unsigned char *bits;
	struct stub *stubs;
	size_t stub_count, stub_cap;
	uint32_t function;         /* that is being read; JP_NONE: none */
	struct jump_cursor cursor; /* for short jumps */
	unsigned char bytes[256];  /* of x86-64: enum reference_byte */
	bool failed;
};

/* ---- stubs ---------------------------------------------------------------------------------------- */

static struct jp_value load_slot_of_loader(void *context, struct jp_value place)
{
	const struct jp_image *image = context;
	const struct jp_reloc *reloc = place.kind == JP_VALUE_ADDRESS ? jp_image_reloc(image, place.number) : NULL;
	if (!reloc)
		return (struct jp_value){ 0 };
	if (reloc->symbol == JP_NONE || reloc->symbol >= image->symbol_count)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = reloc->value };
	uint64_t value = image->symbols[reloc->symbol].value;
	if (value)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = value + reloc->value };
	return (struct jp_value){ .kind = JP_VALUE_SYMBOL, .id = reloc->symbol };
}

static void keep_nothing(void *context, uint64_t address, unsigned width, struct jp_value value)
{
	(void)context;
	(void)address;
	(void)width;
	(void)value;
}

uint64_t jp_stub_target(const struct jp_image *image, uint64_t address, uint32_t *symbol)
{
	const struct jp_calling *calling = jp_calling_of(image->machine);
	const struct jp_memory memory = { (void *)image, load_slot_of_loader, keep_nothing };
	const struct jp_piece *piece = jp_image_piece(image, address);
	struct jp_registers r;
	uint64_t at = address;
	*symbol = JP_NONE;
	if (!calling || !piece || !piece->stubs)
		return address;
	jp_registers_begin(&r, calling);
	for (unsigned i = 0; i < longest_stub; i++) {
		struct jp_insn insn;
		size_t room;
		const unsigned char *code = jp_image_bytes(image, at, &room);
		if (!code || !calling->decode(code, room, at, &insn) || insn.kind == JP_INSN_END)
			return address;
		if (insn.kind == JP_INSN_JUMP_TO || insn.kind == JP_INSN_JUMP_BY) {
			struct jp_value target = jp_insn_target(&r, &insn, &memory);
			*symbol = target.kind == JP_VALUE_SYMBOL ? target.id : JP_NONE;
			return target.kind == JP_VALUE_ADDRESS ? target.number : address;
		}
		jp_registers_apply(&r, &insn, &memory);
		at += insn.len;
	}
	return address;
}

/* ---- bits ----------------------------------------------------------------------------------------- */

static void set_bit(struct reference_search *h, uint64_t address)
{
	uint64_t i = address - h->low;
	if (i < h->span)
		h->bits[i / 8] |= (unsigned char)(1 << i % 8);
}

static bool has_bit(const struct reference_search *h, uint64_t address)
{
	uint64_t i = address - h->low;
	return i < h->span && h->bits[i / 8] >> i % 8 & 1;
}

static int add_stubs(struct reference_search *h, const struct jp_piece *piece)
{
	for (uint64_t at = piece->start; at - piece->start < piece->len; at += 8) {
		uint32_t symbol;
		uint64_t target = jp_stub_target(h->image, at, &symbol);
		const struct jp_function_bounds *f = target == at ? NULL : jp_image_begins(h->image, target);
		if (!f)
			continue;
		if (jp_array_push(h->stubs, h->stub_count, h->stub_cap))
			return -1;
		h->stubs[h->stub_count++] = (struct stub){ at, (uint32_t)(f - h->image->functions) };
		set_bit(h, at);
	}
	return 0;
}

static int set_bits(struct reference_search *h)
{
	const struct jp_image *image = h->image;
	const struct jp_piece *last = &image->pieces[image->piece_count - 1];
	h->low = image->pieces[0].start;
	h->span = last->start - h->low + last->len;
	h->span = h->span < most_span ? h->span : most_span;
	h->bits = calloc(h->span / 8 + 1, 1);
	if (!h->bits)
		return -1;
	for (size_t i = 0; i < image->function_count; i++)
		set_bit(h, image->functions[i].start);
	for (size_t i = 0; i < h->watch_count; i++)
		set_bit(h, h->watches[i]);
	for (size_t i = 0; i < image->piece_count; i++)
		if (image->pieces[i].stubs && add_stubs(h, &image->pieces[i]))
			return -1;
	return 0;
}

/* ---- what is found -------------------------------------------------------------------------------- */

static void note_use(struct reference_search *h, uint32_t function, bool call)
{
	struct jp_function_uses *uses = &h->out->uses[function];
	uses->taken = uses->taken || !call;
	if (!call || h->function == function) /* recursion, or a loop */
		return;
	if (!uses->calls++)
		uses->caller = h->function;
	uses->several = uses->several || uses->caller != h->function || h->function == JP_NONE;
}

/* The function being read may mean that address; `call`: it calls it or jumps there. */
static void note_reference(struct reference_search *h, uint64_t address, bool call)
{
	struct jp_references *out = h->out;
	if (!has_bit(h, address))
		return;
	const uint64_t *watch = jp_last_up_to(h->watches, h->watch_count, sizeof *h->watches, address);
	const struct stub *stub = jp_last_up_to(h->stubs, h->stub_count, sizeof *h->stubs, address);
	const struct jp_function_bounds *f = jp_image_begins(h->image, address);
	bool again = out->sighting_count && out->sightings[out->sighting_count - 1] == h->function;
	if (watch && *watch == address && h->function != JP_NONE && !again) {
		if (jp_array_push(out->sightings, out->sighting_count, out->sighting_cap))
			h->failed = true;
		else
			out->sightings[out->sighting_count++] = h->function;
	}
	if (stub && stub->at == address)
		note_use(h, stub->function, call);
	if (f)
		note_use(h, (uint32_t)(f - h->image->functions), call);
}

/* A jump from the function being read; into the middle of another one it is an entry to that. */
static void note_jump(struct reference_search *h, uint64_t at, uint64_t address)
{
	const struct jp_function_bounds *own = h->function == JP_NONE ? NULL : &h->image->functions[h->function];
	struct jp_references *out = h->out;
	if (own && address >= own->start && address < own->end)
		return;
	const struct jp_function_bounds *f = jp_image_function(h->image, address);
	if (!f || f->start == address)
		return;
	if (jp_array_push(out->entries, out->entry_count, out->entry_cap))
		h->failed = true;
	else
		out->entries[out->entry_count++] = (struct jp_entry){ address, at, h->function };
}

/* ---- x86-64: four bytes behind what may make them a distance -------------------------------------------------- */

static uint32_t low_word(const unsigned char *code)
{
	return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

/* Whether a jump ends at the entry's `from`, read from the begin of its function on. What cannot be read may be one. */
static bool is_jump(const struct jp_image *image, struct jump_cursor *c, const struct jp_entry *entry)
{
	const struct jp_calling *calling = jp_calling_of(image->machine);
	bool same = c->function == entry->function;
	if (same && c->at > entry->from && c->at - c->insn.len < entry->from)
		return c->lost; /* inside of an instruction */
	if (!same || c->at > entry->from)
		*c = (struct jump_cursor){ .function = entry->function, .at = image->functions[entry->function].start };
	while (!c->lost && c->at < entry->from) {
		size_t room;
		const unsigned char *code = jp_image_bytes(image, c->at, &room);
		c->lost = !code || !calling->decode(code, room, c->at, &c->insn);
		c->at += c->lost ? 0 : c->insn.len;
	}
	return c->lost || (c->at == entry->from && c->insn.value == entry->to &&
	                   (c->insn.kind == JP_INSN_JUMP || c->insn.kind == JP_INSN_BRANCH));
}

/* A jump whose distance has one byte, if it is one: the assembler takes such to a function that is near. */
static void read_short_jump(struct reference_search *h, const unsigned char *code, uint64_t end)
{
	struct jp_entry jump = { end + (uint64_t)(int64_t)(int8_t)code[1], end, h->function };
	const struct jp_function_bounds *f = has_bit(h, jump.to) ? jp_image_begins(h->image, jump.to) : NULL;
	uint32_t function = f ? (uint32_t)(f - h->image->functions) : h->function;
	if (function != h->function && (h->function == JP_NONE || is_jump(h->image, &h->cursor, &jump)))
		note_use(h, function, true);
}

enum reference_byte { REFERS_TO_NOTHING, SHORT_JUMP, LONG_CALL, LONG_JUMP, LONG_BRANCH, RELATIVE_OPERAND };

/* What may refer to something by what follows: opcodes, the second byte of a branch, and the ModRM byte of an operand
 * whose place counts from the end of its instruction. Source: the instruction set reference. */
static enum reference_byte reference_byte_of(unsigned byte)
{
	if (byte == 0xeb || (byte & 0xf0) == 0x70 || (byte & 0xfc) == 0xe0)
		return SHORT_JUMP;
	if (byte == 0xe8 || byte == 0xe9)
		return byte == 0xe8 ? LONG_CALL : LONG_JUMP;
	if ((byte & 0xf0) == 0x80)
		return LONG_BRANCH;
	return (byte & 0xc7) == 0x05 ? RELATIVE_OPERAND : REFERS_TO_NOTHING;
}

/* Four bytes after such a byte, which end at `end`. */
static void read_distance(struct reference_search *h, enum reference_byte byte, const unsigned char *code, uint64_t end)
{
	uint64_t target = end + (uint64_t)(int64_t)(int32_t)low_word(code);
	bool jump = byte == LONG_JUMP || byte == LONG_BRANCH;
	if (jump)
		note_jump(h, end - 4, target);
	note_reference(h, target, jump || byte == LONG_CALL);
}

static void read_x86(struct reference_search *h, const unsigned char *code, size_t len, uint64_t start)
{
	for (size_t i = 0; i + 2 <= len; i++) {
		enum reference_byte byte = h->bytes[code[i]];
		if (byte == SHORT_JUMP)
			read_short_jump(h, code + i, start + i + 2);
		else if (byte && i + 5 <= len && (byte != LONG_BRANCH || (i && code[i - 1] == 0x0f)))
			read_distance(h, byte, code + i + 1, start + i + 5);
	}
	for (size_t i = 1; h->image->placed && i + 4 <= len; i++)
		note_reference(h, low_word(code + i), false);
}

/* ---- AArch64: pages and what is added to them -------------------------------------------------------- */

/* The pages that registers hold. One that no sum used may be meant in a way that was not seen: then all functions there
 * are. */
struct page_registers {
	uint64_t page[JP_REGISTERS];
	bool held[JP_REGISTERS], used[JP_REGISTERS];
};

static void leave_page(struct reference_search *h, struct page_registers *pages, unsigned number)
{
	const struct jp_image *image = h->image;
	uint64_t page = pages->page[number];
	bool open = pages->held[number] && !pages->used[number];
	pages->held[number] = false;
	if (!open || !jp_image_piece(image, page) || !jp_image_piece(image, page)->code)
		return;
	size_t i = jp_count_below(image->functions, image->function_count, sizeof *image->functions, page);
	for (; i < image->function_count && image->functions[i].start - page < page_size; i++)
		h->out->uses[i].taken = true;
}

static void read_arm_insn(struct reference_search *h, struct page_registers *pages, const struct jp_insn *insn,
                          uint64_t at, bool page)
{
	bool held = insn->base < JP_REGISTERS && pages->held[insn->base];
	switch (insn->kind) {
	case JP_INSN_CALL: note_reference(h, insn->value, true); break;
	case JP_INSN_JUMP:
	case JP_INSN_BRANCH:
		note_jump(h, at + 4, insn->value);
		note_reference(h, insn->value, true);
		break;
	case JP_INSN_ADDRESS:
		if (page && insn->dst < JP_REGISTERS) {
			leave_page(h, pages, insn->dst);
			pages->page[insn->dst] = insn->value;
			pages->held[insn->dst] = true;
			pages->used[insn->dst] = false;
		} else {
			note_reference(h, insn->value, false);
		}
		break;
	case JP_INSN_ADD:
	case JP_INSN_LOAD:
		if (held) {
			pages->used[insn->base] = true;
			note_reference(h, pages->page[insn->base] + (uint64_t)insn->disp, false);
		}
		break;
	default: break;
	}
}

static void read_arm(struct reference_search *h, const unsigned char *code, size_t len, uint64_t start)
{
	const struct jp_calling *calling = jp_calling_of(EM_AARCH64);
	struct page_registers pages = { 0 };
	for (size_t i = start % 4 ? len : 0; i + 4 <= len; i += 4) {
		struct jp_insn insn;
		bool page = (low_word(code + i) & 0x9f000000) == 0x90000000; /* ADRP */
		if (calling->decode(code + i, 4, start + i, &insn))
			read_arm_insn(h, &pages, &insn, start + i, page);
	}
	for (unsigned i = 0; i < JP_REGISTERS; i++)
		leave_page(h, &pages, i);
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
			note_reference(h, image->relocs[i].value, false);
	for (size_t p = 0; image->placed && p < image->piece_count; p++) {
		uint64_t word;
		for (size_t i = 0; !image->pieces[p].code && i + 8 <= image->pieces[p].len; i += 8)
			if (jp_image_word(image, image->pieces[p].start + i, &word))
				note_reference(h, word, false);
	}
}

static int by_entry(const void *a, const void *b)
{
	const struct jp_entry *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static int compare_function(const void *key, const void *sighting)
{
	uint32_t wanted = *(const uint32_t *)key, is = *(const uint32_t *)sighting;
	return (wanted > is) - (wanted < is);
}

static bool is_sighted(const struct reference_search *h, uint64_t address)
{
	const struct jp_references *out = h->out;
	const struct jp_function_bounds *f = jp_image_function(h->image, address);
	uint32_t function = f ? (uint32_t)(f - h->image->functions) : JP_NONE;
	return out->sighting_count &&
	       bsearch(&function, out->sightings, out->sighting_count, sizeof *out->sightings, compare_function);
}

/* What looks like a jump may be the middle of something else; `from` is where it would end. */
static void confirm_entries(struct reference_search *h)
{
	struct jp_references *out = h->out;
	struct jump_cursor cursor = { .function = JP_NONE };
	size_t kept = 0;
	for (size_t i = 0; i < out->entry_count; i++) {
		struct jp_entry e = out->entries[i];
		e.from += h->image->machine == EM_X86_64 ? 4 : 0;
		if (is_sighted(h, e.to) && (e.function == JP_NONE || is_jump(h->image, &cursor, &e)))
			out->entries[kept++] = e;
	}
	out->entry_count = kept;
	if (kept)
		qsort(out->entries, kept, sizeof *out->entries, by_entry);
}

int jp_references_find(const struct jp_image *image, const uint64_t *watches, size_t watch_count,
                       struct jp_references *out)
{
	struct reference_search h = {
		.cursor.function = JP_NONE, .image = image, .watches = watches, .watch_count = watch_count, .out = out
	};
	for (unsigned i = 0; i < sizeof h.bytes; i++)
		h.bytes[i] = (unsigned char)reference_byte_of(i);
	*out = (struct jp_references){ .uses = calloc(image->function_count + 1, sizeof *out->uses) };
	int rc = out->uses ? 0 : -1;
	if (!rc && image->piece_count && jp_calling_of(image->machine))
		rc = set_bits(&h);
	for (size_t i = 0; !rc && h.bits && i < image->piece_count; i++)
		if (image->pieces[i].code && !image->pieces[i].stubs)
			search_piece(&h, &image->pieces[i]);
	if (!rc && h.bits) {
		search_data(&h);
		confirm_entries(&h);
	}
	free(h.bits);
	free(h.stubs);
	return rc || h.failed ? -1 : 0;
}

void jp_references_release(struct jp_references *r)
{
	free(r->uses);
	free(r->sightings);
	free(r->entries);
	*r = (struct jp_references){ 0 };
}
