#include "outside/rubygraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "outside/jeblocks.h"
#include "outside/pastwords.h"
#include "outside/rootwords.h"
#include "outside/rubycensus.h"
#include "outside/rubyowner.h"
#include "outside/rubyshapes.h"

enum { root_levels = 1 << 20, most_small_words = 64 };

enum { most_graph_slots = 1 << 30, most_root_block = 16 << 20, chunk_words = 8192, exported_classes = jp_ruby_known };

/* A block of malloc belongs to a slot by its number + 1, to the roots, or to nobody. */
enum { nobodys = 0 };
static const uint32_t of_roots = UINT32_MAX;
static const uint64_t most_references = 1 << 30;

enum { type_mask = 31, has_variables = 1 << 5, has_id = 1 << 6 };

/* What is looked at together: what is known to the word comes before what is not. */
enum slot_order { KNOWN_SLOTS, INTERNAL_SLOTS, DATA_SLOTS };

enum walk_mode { CLAIM_OWN, CLAIM_ALL, EMIT };

struct open_block {
	struct jp_jeblock block;
	int level;
};

struct graph_maker {
	const struct jp_rubygraph *g;
	struct jp_strbuf *out;
	struct jp_jeblocks blocks;
	uint32_t *first;          /* the number of each page's first slot, and behind them that of all */
	unsigned char *types;     /* of each slot, and what it is noted for; 0: there is no object */
	uint32_t *claims;         /* of each block */
	unsigned char *seen;      /* likewise: it was walked through */
	struct open_block *stack; /* blocks to be walked through */
	size_t stack_count, stack_cap;
	uint64_t *chunk; /* what was read last */
	unsigned char *page, *root_room;
	const struct jp_rubypage *at_page; /* which is in `page` */
	uint64_t singleton;                /* the bit of flags that singleton classes have */
	enum walk_mode mode;
	uint32_t owner; /* who is walked */
	int levels;
	uint64_t object, class, bytes;    /* that is written */
	uint64_t objects, roots, written; /* written: references */
	const char *root_kind;
	struct jp_pastwords past;
	bool failed;
};

/* ---- slots ---- */

static bool slot_at(const struct graph_maker *k, uint64_t address, uint32_t *slot)
{
	const struct jp_rubypages *pages = k->g->pages;
	if (address % 8 || address < pages->items[0].at)
		return false;
	const struct jp_rubypage *page = jp_rubypages_at(pages, address);
	uint64_t offset = page ? address - page->first : 0;
	if (!page || address < page->first || offset % page->slot || offset / page->slot >= page->count)
		return false;
	*slot = k->first[page - pages->items] + (uint32_t)(offset / page->slot);
	return k->types[*slot];
}

static void read_page(struct graph_maker *k, const struct jp_rubypage *page)
{
	jp_memsource_copy(k->g->source, page->at, k->page, page->size);
	k->at_page = page;
}

static void slot_words(const struct graph_maker *k, const struct jp_rubypage *page, uint32_t i,
                       uint64_t words[jp_ruby_most_words])
{
	memcpy(words, k->page + (page->first - page->at) + (size_t)i * page->slot, page->slot);
}

/* Variables of what is no Object, and ids, are in tables of the VM's. */
static unsigned char noted_of(uint64_t flags)
{
	enum { flag_of_variables = 1 << 10, flag_of_id = 1 << 9 };
	if (!jp_ruby_type_name(flags & type_mask))
		return 0;
	return (unsigned char)((flags & type_mask) | (flags & flag_of_variables ? has_variables : 0) |
	                       (flags & flag_of_id ? has_id : 0));
}

/* 0, or -1 when memory is short. */
static int learn_types(struct graph_maker *k)
{
	const struct jp_rubypages *pages = k->g->pages;
	uint64_t words[jp_ruby_most_words], all = 0;
	k->first = calloc(pages->count + 1, sizeof *k->first);
	for (size_t i = 0; k->first && i < pages->count; i++) {
		k->first[i] = (uint32_t)all;
		all += pages->items[i].count;
		if (all > most_graph_slots)
			return -1;
	}
	k->types = calloc((size_t)all + 1, 1);
	if (!k->first || !k->types)
		return -1;
	k->first[pages->count] = (uint32_t)all;
	for (size_t i = 0; i < pages->count; i++) {
		read_page(k, &pages->items[i]);
		for (uint32_t n = 0; n < pages->items[i].count; n++) {
			slot_words(k, &pages->items[i], n, words);
			k->types[k->first[i] + n] = noted_of(words[0]);
		}
	}
	return 0;
}

/* ---- writing ---- */

static void put_counted(struct jp_strbuf *out, const char *text)
{
	jp_strbuf_uleb(out, strlen(text));
	jp_strbuf_str(out, text);
}

static uint64_t distance_of(uint64_t from, uint64_t to)
{
	int64_t words = (int64_t)(to - from) / 8;
	return (uint64_t)words << 1 ^ (uint64_t)(words >> 63);
}

static void emit_reference(struct graph_maker *k, uint64_t to)
{
	if (k->written > most_references)
		return;
	k->written++;
	if (k->owner == of_roots) {
		k->roots++;
		jp_strbuf_str(k->out, "R");
		put_counted(k->out, k->root_kind);
		jp_strbuf_uleb(k->out, to / 8);
		jp_strbuf_uleb(k->out, 0);
	} else if (to != k->object && to != k->class) {
		jp_strbuf_uleb(k->out, distance_of(k->object, to) << 1);
	}
}

/* ---- walking ---- */

static void open_block(struct graph_maker *k, const struct jp_jeblock *block, int level)
{
	k->seen[block->number] = true;
	if (jp_array_push(k->stack, k->stack_count, k->stack_cap)) {
		k->failed = true;
		return;
	}
	k->stack[k->stack_count++] = (struct open_block){ *block, level };
}

static uint64_t bytes_of_block(struct graph_maker *k, const struct jp_jeblock *block)
{
	return jp_jeblock_bytes(k->g->source, block->extent, k->g->heap->padded);
}

/* A block that begins at an address becomes the owner's, if it is nobody's; *block is one that is the owner's. */
static bool claim_block(struct graph_maker *k, uint64_t address, struct jp_jeblock *block)
{
	if (!jp_jeblocks_find(&k->blocks, address, block) || block->at != address)
		return false;
	uint32_t *claim = &k->claims[block->number];
	if (*claim == nobodys && k->mode != EMIT)
		*claim = k->owner;
	return *claim == k->owner;
}

/* What a block has local variables for refers to by an address inside. */
static bool variables_at(const struct graph_maker *k, uint64_t address, uint64_t *object)
{
	struct jp_jeblock block;
	if (!jp_jeblocks_find(&k->blocks, address, &block))
		return false;
	uint32_t claim = k->claims[block.number], page = 0, high = (uint32_t)k->g->pages->count;
	if (claim == nobodys || claim == of_roots || claim == k->owner ||
	    (k->types[claim - 1] & type_mask) != jp_ruby_type_imemo)
		return false;
	while (high - page > 1) {
		uint32_t middle = page + (high - page) / 2;
		*(k->first[middle] < claim ? &page : &high) = middle;
	}
	const struct jp_rubypage *p = &k->g->pages->items[page];
	*object = p->first + (uint64_t)(claim - 1 - k->first[page]) * p->slot;
	return true;
}

static void walk_piece(struct graph_maker *maker, const struct jp_rubypiece *piece);

/* In a table of the VM's that does not keep it: with the block of its variables, with its id, an Integer, or, of a
 * String that stands for all that are equal, with itself. */
static bool is_table_key(const struct graph_maker *k, uint32_t slot, const uint64_t *words, size_t i, size_t count)
{
	struct jp_jeblock block;
	if ((i + 1 < count && words[i + 1] == words[i]) || (i && words[i - 1] == words[i]))
		return (k->types[slot] & type_mask) == jp_ruby_type_string;
	if (k->types[slot] & has_variables && i + 1 < count && jp_jeblocks_find(&k->blocks, words[i + 1], &block))
		return true;
	return k->types[slot] & has_id && ((i + 1 < count && words[i + 1] & 1) || (i && words[i - 1] & 1));
}

static void walk_words(struct graph_maker *k, const uint64_t *words, size_t count, int level)
{
	for (size_t i = 0; i < count; i++) {
		struct jp_jeblock block;
		uint64_t object;
		uint32_t slot;
		if (words[i] < jp_memory_page || words[i] % 8)
			continue;
		if (slot_at(k, words[i], &slot)) {
			if (k->mode == EMIT && !(k->owner == of_roots && is_table_key(k, slot, words, i, count)))
				emit_reference(k, words[i]);
		} else if (level && claim_block(k, words[i], &block)) {
			if (k->mode != CLAIM_OWN && !k->seen[block.number])
				open_block(k, &block, level - 1);
		} else if (k->mode == EMIT && level && variables_at(k, words[i], &object)) {
			emit_reference(k, object);
		}
	}
}

/* The words from an address on, in chunks. Those of the slot that is looked at are in memory already. */
static void walk_range(struct graph_maker *k, enum jp_rubypiece_kind kind, uint64_t at, uint64_t count, int level)
{
	const struct jp_rubypage *page = k->at_page;
	uint64_t step = kind == JP_PIECE_ENTRIES ? chunk_words / 3 * 3 : chunk_words;
	for (uint64_t done = 0; done < count && k->g->source->left && !k->failed; done += step) {
		uint64_t n = count - done < step ? count - done : step, from = at + done * 8;
		if (page && from >= page->at && from + n * 8 <= page->at + page->size)
			memcpy(k->chunk, k->page + (from - page->at), (size_t)n * 8);
		else
			jp_memsource_copy(k->g->source, from, k->chunk, (size_t)n * 8);
		if (kind == JP_PIECE_DEEP && k->mode == CLAIM_ALL)
			jp_pastwords_of_stacks(&k->past, k->g->source, k->chunk, (size_t)n);
		size_t kept = jp_rubypiece_references(kind, k->chunk, (size_t)n);
		walk_words(k, k->chunk, kept, level);
	}
}

/* What the collector had to mark, or had moved, is of the past: a list of objects and next to nothing else. */
static bool is_of_collector(struct graph_maker *k, const struct jp_jeblock *block)
{
	enum { looked_at = 4096 / 8 };
	uint64_t words[looked_at];
	unsigned slots = 0, others = 0;
	uint32_t slot;
	if (k->owner != of_roots || block->size < sizeof words)
		return false;
	jp_memsource_copy(k->g->source, block->at, words, sizeof words);
	for (size_t i = 0; i < looked_at; i++) {
		bool is_slot = slot_at(k, words[i], &slot);
		slots += is_slot;
		others += !is_slot && words[i];
	}
	return slots > looked_at / 4 && slots > others;
}

/* The words of a small block; how many. */
static size_t small_block(struct graph_maker *k, const struct jp_jeblock *block, uint64_t words[most_small_words])
{
	size_t count = block->size / 8 < most_small_words ? (size_t)block->size / 8 : most_small_words;
	jp_memsource_copy(k->g->source, block->at, words, count * 8);
	return count;
}

static bool take_block(struct graph_maker *k, uint64_t address, struct jp_jeblock *block)
{
	if (!claim_block(k, address, block))
		return false;
	if (k->mode == EMIT && !k->seen[block->number]) {
		k->seen[block->number] = true;
		k->bytes += bytes_of_block(k, block);
	}
	return true;
}

/* Of a table what is in use alone: behind that there is what was in its memory before. */
static bool walk_open_table(struct graph_maker *k, const struct open_block *open)
{
	uint64_t words[most_small_words], entries, number, bins;
	struct jp_jeblock block;
	if (open->block.size > sizeof words)
		return false;
	size_t count = small_block(k, &open->block, words);
	if (!jp_ruby_st_table(k->g->source, words, count, &entries, &number, &bins))
		return false;
	(void)take_block(k, bins, &block);
	if (take_block(k, entries, &block)) {
		k->seen[block.number] = true;
		uint64_t room = block.size / 8;
		walk_range(k, JP_PIECE_ENTRIES, entries, number * 3 < room ? number * 3 : room, open->level);
	}
	return true;
}

static void walk_open_blocks(struct graph_maker *k)
{
	while (k->stack_count && !k->failed) {
		struct open_block open = k->stack[--k->stack_count];
		k->bytes += k->mode == EMIT ? bytes_of_block(k, &open.block) : 0;
		bool large = k->owner == of_roots && open.block.size >= most_root_block;
		if (!large && !is_of_collector(k, &open.block) && !walk_open_table(k, &open))
			walk_range(k, JP_PIECE_DEEP, open.block.at, open.block.size / 8, open.level);
	}
}

/* Not more than its block has, where it lies in one. */
static uint64_t bounded_words(const struct graph_maker *k, const struct jp_rubypiece *p)
{
	struct jp_jeblock block;
	if (k->at_page && p->at - k->at_page->at < k->at_page->size) {
		uint64_t room = (k->at_page->at + k->at_page->size - p->at) / 8;
		return p->words < room ? p->words : room;
	}
	if (jp_jeblocks_find(&k->blocks, p->at, &block)) {
		uint64_t room = (block.at + block.size - p->at) / 8;
		return p->words < room ? p->words : room;
	}
	return jp_memsource_heap(k->g->source, p->at) && p->words < chunk_words ? p->words : 0;
}

/* ---- classes ---- */

/* A constant's value is in a record of its own. */
static void walk_numbered(struct graph_maker *k, uint64_t entries, uint64_t number)
{
	struct jp_jeblock block, record;
	uint64_t item[2], words[most_small_words];
	uint32_t slot;
	if (!take_block(k, entries, &block))
		return;
	for (uint64_t i = 0; i < number && (i + 1) * sizeof item <= block.size && k->g->source->left; i++) {
		if (!jp_memsource_read(k->g->source, entries + i * sizeof item, item, sizeof item) || !item[0])
			continue;
		if (slot_at(k, item[1], &slot))
			walk_words(k, &item[1], 1, 0);
		else if (take_block(k, item[1], &record) && record.size <= sizeof words)
			walk_words(k, words, small_block(k, &record, words), 0);
	}
}

static bool begins_block(const struct graph_maker *k, uint64_t address)
{
	struct jp_jeblock block;
	return jp_jeblocks_find(&k->blocks, address, &block) && block.at == address;
}

/* An entry of a list of classes (rb_subclass_entry): a class, the next entry, and the one before. */
static bool is_of_class_list(const struct graph_maker *k, const uint64_t *words, size_t count)
{
	enum { most_words = 4 };
	uint32_t slot;
	if (count < 3 || count > most_words || !begins_block(k, words[2]) || (words[1] && !begins_block(k, words[1])))
		return false;
	unsigned type = slot_at(k, words[0], &slot) ? k->types[slot] & type_mask : 0;
	return !words[0] || type == jp_ruby_type_class || type == jp_ruby_type_iclass;
}

/* A table; or what a class of an old Ruby has outside of its slot, which leads to tables; or variables' values. */
static void walk_class_words(struct graph_maker *k, const uint64_t *words, size_t count, bool outside)
{
	walk_words(k, words, count, 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t inner[most_small_words], entries, number, bins;
		struct jp_jeblock block;
		if (words[i] % 8 || !claim_block(k, words[i], &block))
			continue;
		size_t n = small_block(k, &block, inner);
		(void)take_block(k, words[i], &block);
		if (jp_ruby_id_table(inner, n, &entries, &number)) {
			walk_numbered(k, entries, number);
		} else if (jp_ruby_st_table(k->g->source, inner, n, &entries, &number, &bins)) {
			const struct jp_rubypiece piece = { JP_PIECE_ENTRIES, entries, number * 3 };
			walk_piece(k, &piece);
			(void)take_block(k, bins, &block);
		} else if (outside) {
			walk_class_words(k, inner, n, false);
		} else if (!is_of_class_list(k, inner, n)) {
			walk_range(k, JP_PIECE_VALUES, block.at, block.size / 8, 0);
		}
	}
}

/* ---- pieces ---- */

static void walk_class_of(struct graph_maker *k, const struct jp_rubypiece *p)
{
	uint64_t words[jp_ruby_most_words];
	bool outside = k->at_page->slot == jp_ruby_least_slot;
	memcpy(words, k->page + (p->at - k->at_page->at), p->words * 8);
	walk_class_words(k, words, p->words, outside);
}

static void walk_piece(struct graph_maker *k, const struct jp_rubypiece *p)
{
	struct jp_jeblock block;
	uint64_t words = bounded_words(k, p);
	bool outside = !k->at_page || p->at - k->at_page->at >= k->at_page->size;
	if (p->kind == JP_PIECE_CLASS) {
		walk_class_of(k, p);
		return;
	}
	if (p->kind == JP_PIECE_DEEP) {
		walk_range(k, p->kind, p->at, words, k->levels);
		walk_open_blocks(k);
		return;
	}
	bool own = outside && claim_block(k, p->at, &block);
	if (k->mode != EMIT)
		return;
	if (own && !k->seen[block.number])
		k->bytes += bytes_of_block(k, &block);
	else if (outside && !own && p->kind != JP_PIECE_OPAQUE)
		k->bytes += words * 8;
	if (own)
		k->seen[block.number] = true;
	if (p->kind != JP_PIECE_OPAQUE)
		walk_range(k, p->kind, p->at, words, 0);
}

/* A WeakMap does not keep what it refers to, nor does what notes where objects were allocated; and what the VM has
 * is Ruby's own. */
static bool is_weak(struct graph_maker *k, const uint64_t words[4])
{
	char name[jp_ruby_name_size];
	return (words[0] & type_mask) == jp_ruby_type_data && jp_ruby_data_type(k->g->source, words, name) &&
	       (strstr(name, "weak") || strstr(name, "allocation_info") || !strcmp(name, "VM"));
}

static struct jp_rubyshape begin_slot(struct graph_maker *k, const struct jp_rubypage *page, uint32_t i,
                                      const uint64_t words[jp_ruby_most_words])
{
	unsigned type = words[0] & 31;
	k->object = page->first + (uint64_t)i * page->slot;
	k->owner = k->first[page - k->g->pages->items] + i + 1;
	k->bytes = page->slot;
	k->class = type == jp_ruby_type_imemo ? 0 : words[1];
	struct jp_rubyshape shape = { 0 };
	if (!is_weak(k, words))
		shape = jp_rubyshape_of(k->g->source, words, k->object, page->slot);
	k->levels = shape.levels;
	return shape;
}

static enum slot_order order_of(unsigned type)
{
	enum { type_of_file = 11 };
	return type == jp_ruby_type_data || type == type_of_file ? DATA_SLOTS
	       : type == jp_ruby_type_imemo                      ? INTERNAL_SLOTS
	                                                         : KNOWN_SLOTS;
}

/* Gives blocks to slots: what they lead to themselves, and with CLAIM_ALL what that leads to. */
static void claim_for_slots(struct graph_maker *k, enum walk_mode mode, enum slot_order order)
{
	const struct jp_rubypages *pages = k->g->pages;
	uint64_t words[jp_ruby_most_words];
	k->mode = mode;
	for (size_t i = 0; i < pages->count && !k->failed; i++) {
		read_page(k, &pages->items[i]);
		for (uint32_t n = 0; n < pages->items[i].count; n++) {
			unsigned type = k->types[k->first[i] + n] & type_mask;
			if (!type || order_of(type) != order)
				continue;
			slot_words(k, &pages->items[i], n, words);
			struct jp_rubyshape shape = begin_slot(k, &pages->items[i], n, words);
			for (unsigned p = 0; p < shape.count; p++)
				walk_piece(k, &shape.pieces[p]);
		}
	}
}

/* ---- roots ---- */

static void take_root(void *context, const char *file, uint64_t at, const uint64_t *words, size_t count)
{
	struct graph_maker *k = context;
	bool of_ruby = strstr(file, "ruby");
	k->root_kind = !*file ? "machine_context" : of_ruby ? "vm" : "global_list";
	if (of_ruby && k->mode == CLAIM_OWN)
		jp_pastwords_of_transient(&k->past, k->g->source, k->g->extents, k->g->pages, words, count);
	for (uint64_t from = at, end = at + count * 8; from < end;) {
		struct jp_pastrange past = jp_pastwords_next(&k->past, from, end);
		if (past.from > from)
			walk_words(k, words + (from - at) / 8, (size_t)(past.from - from) / 8, root_levels);
		from = past.to;
	}
	walk_open_blocks(k);
}

/* Files' data, or what else there is: a stack has words of the past. */
static void walk_roots(struct graph_maker *k, enum walk_mode mode, bool files)
{
	const struct jp_rootwords roots = { .source = k->g->source,
		                            .extents = k->g->extents,
		                            .pages = k->g->pages,
		                            .room = k->root_room,
		                            .take = take_root,
		                            .context = k };
	k->mode = mode;
	k->owner = of_roots;
	k->at_page = NULL;
	if (files) {
		jp_rootwords_walk(&roots, JP_ROOTWORDS_FILE);
		return;
	}
	k->root_kind = "machine_context";
	walk_words(k, k->g->source->registers, k->g->source->register_count, root_levels);
	walk_open_blocks(k);
	jp_rootwords_walk(&roots, JP_ROOTWORDS_STACK);
	jp_rootwords_walk(&roots, JP_ROOTWORDS_OTHER);
}

/* ---- objects ---- */

/* The bit that the classes of all classes that Ruby exports have, and these do not. 0: there is none. */
static uint64_t singleton_bit(struct graph_maker *k, const uint64_t classes[exported_classes])
{
	uint64_t have = UINT64_MAX, lack = 0;
	for (int i = 0; i < exported_classes; i++) {
		uint64_t class = jp_memsource_word(k->g->source, classes[i] + 8);
		if (jp_rubypages_type(k->g->source, k->g->pages, class) != jp_ruby_type_class)
			return 0;
		have &= jp_memsource_word(k->g->source, class);
		lack |= jp_memsource_word(k->g->source, classes[i]);
	}
	uint64_t bits = have & ~lack & ~UINT64_C(0xfff);
	return bits & (bits - 1) ? 0 : bits;
}

/* Of a singleton class that of the class above. */
static void name_slot(struct graph_maker *k, const uint64_t words[jp_ruby_most_words], char name[jp_ruby_name_size])
{
	const struct jp_rubygraph *g = k->g;
	unsigned type = words[0] & 31;
	bool known = false;
	if (type == jp_ruby_type_class && words[0] & k->singleton)
		known = jp_rubynames_of(g->source, g->pages, g->names, k->object, name);
	else if (type == jp_ruby_type_class || type == jp_ruby_type_module)
		known = jp_rubynames_own(g->source, g->pages, g->names, k->object, name);
	else if (type == jp_ruby_type_data)
		known = jp_ruby_data_type(g->source, words, name);
	else if (type == jp_ruby_type_imemo && jp_ruby_imemo_type(words[0]) == jp_imemo_env)
		known = strcpy(name, "env");
	if (!known)
		*name = 0;
}

/* References come behind the bytes, which are known when all are found: they wait in a text of their own. */
static void write_slot(struct graph_maker *k, const struct jp_rubypage *page, uint32_t i, struct jp_strbuf *references)
{
	enum { is_singleton = 0x20, has_name = 0x40, has_length = 0x80 };
	uint64_t words[jp_ruby_most_words];
	char name[jp_ruby_name_size];
	uint32_t slot;
	struct jp_strbuf *out = k->out;
	slot_words(k, page, i, words);
	struct jp_rubyshape shape = begin_slot(k, page, i, words);
	unsigned type = words[0] & 31;
	if (k->class && !slot_at(k, k->class, &slot))
		k->class = 0;
	name_slot(k, words, name);
	jp_strbuf_cut(references, 0);
	k->out = references;
	for (unsigned p = 0; p < shape.count; p++)
		walk_piece(k, &shape.pieces[p]);
	k->out = out;
	bool singleton = type == jp_ruby_type_class && words[0] & k->singleton;
	const unsigned char head = (unsigned char)(type | (*name ? has_name : 0) | (shape.length ? has_length : 0) |
	                                           (singleton ? is_singleton : 0));
	jp_strbuf_add(out, &head, 1);
	jp_strbuf_uleb(out, k->class ? distance_of(k->object, k->class) : 0);
	jp_strbuf_uleb(out, k->bytes == page->slot ? 0 : k->bytes);
	if (shape.length)
		jp_strbuf_uleb(out, shape.length);
	if (*name)
		put_counted(out, name);
	jp_strbuf_add(out, references->text, references->len);
	jp_strbuf_uleb(out, 0);
	k->objects++;
}

static void write_pages(struct graph_maker *k)
{
	const struct jp_rubypages *pages = k->g->pages;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) references = { 0 };
	k->mode = EMIT;
	for (size_t i = 0; i < pages->count && !k->failed; i++) {
		const struct jp_rubypage *page = &pages->items[i];
		read_page(k, page);
		jp_strbuf_str(k->out, "P");
		jp_strbuf_uleb(k->out, page->first / 8);
		jp_strbuf_uleb(k->out, page->slot);
		jp_strbuf_uleb(k->out, page->count);
		for (uint32_t n = 0; n < page->count; n++)
			if (k->types[k->first[i] + n])
				write_slot(k, page, n, &references);
			else
				jp_strbuf_uleb(k->out, 0);
	}
	k->failed = k->failed || references.failed;
}

static void write_graph(struct graph_maker *k)
{
	claim_for_slots(k, CLAIM_OWN, KNOWN_SLOTS);
	claim_for_slots(k, CLAIM_OWN, INTERNAL_SLOTS);
	claim_for_slots(k, CLAIM_OWN, DATA_SLOTS);
	walk_roots(k, CLAIM_OWN, true);
	claim_for_slots(k, CLAIM_ALL, INTERNAL_SLOTS);
	walk_roots(k, CLAIM_ALL, true);
	claim_for_slots(k, CLAIM_ALL, DATA_SLOTS);
	walk_roots(k, CLAIM_ALL, false);
	memset(k->seen, 0, k->blocks.count + 1);
	jp_strbuf_str(k->out, "jprof-graph 2\nsource memory\n\n");
	write_pages(k);
	walk_roots(k, EMIT, true);
	walk_roots(k, EMIT, false);
	jp_strbuf_str(k->out, "E");
	jp_strbuf_uleb(k->out, k->objects);
	put_counted(k->out, "end\n");
}

static int make_room(struct graph_maker *k)
{
	k->page = malloc(jp_ruby_most_page);
	k->root_room = malloc(jp_ruby_most_page);
	k->chunk = malloc(chunk_words * sizeof *k->chunk);
	if (!k->page || !k->root_room || !k->chunk || jp_jeblocks_open(k->g->source, k->g->extents, &k->blocks))
		return -1;
	k->claims = calloc(k->blocks.count + 1, sizeof *k->claims);
	k->seen = calloc(k->blocks.count + 1, 1);
	return k->claims && k->seen ? learn_types(k) : -1;
}

static void release_maker(struct graph_maker *k)
{
	jp_jeblocks_release(&k->blocks);
	free(k->first);
	free(k->types);
	free(k->claims);
	free(k->seen);
	free(k->stack);
	free(k->chunk);
	free(k->page);
	free(k->root_room);
}

/* Why there is none; NULL: nothing. */
static const char *why_no_graph(const struct jp_rubygraph *g)
{
	if (!g->pages->count)
		return "it is no Ruby";
	if (!g->heap->version)
		return "what its objects have outside of Ruby's own heap is found with jemalloc alone";
	return g->names->known ? NULL : "the names of its classes are not where Ruby 3.1 to 3.4 have them";
}

/* The same of what was written. */
static const char *why_not_whole(const struct graph_maker *k)
{
	if (!k->blocks.count)
		return "it has more blocks of memory than are looked at";
	if (k->written > most_references || !k->g->source->left)
		return "it has more memory than is read";
	return k->roots ? NULL : "no root of its objects was found";
}

int jp_rubygraph_write(const struct jp_rubygraph *g, struct jp_strbuf *out, const char **why)
{
	*why = why_no_graph(g);
	if (*why)
		return 0;
	struct graph_maker *k = calloc(1, sizeof *k);
	if (!k)
		return -1;
	k->g = g;
	k->out = out;
	k->singleton = g->singleton ? g->singleton : singleton_bit(k, g->names->classes);
	if (!k->singleton)
		*why = "its singleton classes are not told from others as in Ruby 3.1 to 3.4";
	int rc = *why ? 0 : make_room(k);
	if (!rc && !*why && k->blocks.count)
		write_graph(k);
	rc = rc || k->failed || out->failed ? -1 : 0;
	*why = rc || *why ? *why : why_not_whole(k);
	release_maker(k);
	free(k);
	return rc;
}
