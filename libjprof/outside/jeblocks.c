#include "outside/jeblocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "outside/jeheap.h"

enum {
	unit_pages = jp_memory_unit / jp_memory_page,
	most_block_units = 1 << 22, /* 8 TB of addresses: then there are no blocks */
	owner_mask = jp_je_most_owners,
	to_be_read = 1 << 14,
	read_next = 1 << 15,        /* with the level behind this one */
	most_block_pages = 1 << 24, /* 64 GB in use, likewise */
	most_levels = 12,           /* that are read in the order of addresses */
};

static const uint64_t address_mask = (1ULL << 48) - 1;

unsigned jp_jeextent_places(const struct jp_jeextent *e)
{
	if (e->state != JP_JE_ACTIVE || e->class >= jp_je_classes)
		return 0;
	return e->slab ? e->places : 1;
}

bool jp_jeextent_lives(const struct jp_jeextent *e, unsigned place)
{
	return e->slab ? !(e->free[place / 64] >> place % 64 & 1) : !e->cached;
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static uint64_t place_size(const struct jp_jeextent *e)
{
	return e->slab ? jp_jeclass_size(e->class) : e->base + e->size - e->first;
}

static int number_blocks(struct jp_jeblocks *b)
{
	const struct jp_jeextents *x = b->extents;
	b->first = calloc(x->count + 1, sizeof *b->first);
	if (!b->first)
		return -1;
	for (size_t i = 0; i < x->count; i++) {
		b->first[i] = (uint32_t)b->count;
		b->count += jp_jeextent_places(&x->items[i]);
		if (b->count > jp_je_most_blocks) {
			b->count = 0;
			return 0;
		}
	}
	b->first[x->count] = (uint32_t)b->count;
	return 0;
}

/* The table of a unit, made when it is new; NULL when memory is short. */
static uint32_t *table_of_unit(struct jp_jeblocks *b, uint64_t unit, size_t *tables, size_t *cap)
{
	if (!b->units[unit]) {
		if (jp_array_reserve(&b->pages, cap, (*tables + 1) * unit_pages, sizeof *b->pages))
			return NULL;
		memset(b->pages + *tables * unit_pages, 0, unit_pages * sizeof *b->pages);
		b->units[unit] = (uint32_t)++ * tables;
	}
	return b->pages + (size_t)(b->units[unit] - 1) * unit_pages;
}

static int map_pages(struct jp_jeblocks *b)
{
	const struct jp_jeextents *x = b->extents;
	size_t tables = 0, cap = 0;
	uint64_t used = 0;
	b->low = x->items[0].base / jp_memory_unit * jp_memory_unit;
	b->high = x->items[x->count - 1].base + x->items[x->count - 1].size;
	for (size_t i = 0; i < x->count; i++)
		used += jp_jeextent_places(&x->items[i]) ? x->items[i].size / jp_memory_page : 0;
	uint64_t units = (b->high - b->low) / jp_memory_unit + 1;
	if (units > most_block_units || used > most_block_pages) {
		b->count = 0;
		return 0;
	}
	b->units = calloc((size_t)units, sizeof *b->units);
	if (!b->units)
		return -1;
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		for (uint64_t at = e->base; jp_jeextent_places(e) && at - e->base < e->size; at += jp_memory_page) {
			uint64_t page = (at - b->low) / jp_memory_page;
			uint32_t *table = table_of_unit(b, page / unit_pages, &tables, &cap);
			if (!table)
				return -1;
			table[page % unit_pages] = (uint32_t)i + 1;
		}
	}
	return 0;
}

int jp_jeblocks_open(struct jp_memsource *source, const struct jp_jeextents *extents, struct jp_jeblocks *b)
{
	*b = (struct jp_jeblocks){ .source = source, .extents = extents };
	if (!extents->count)
		return 0;
	if (number_blocks(b) || (b->count && map_pages(b)))
		return -1;
	b->owners = calloc(b->count + 1, sizeof *b->owners);
	b->piece = malloc(jp_memory_piece);
	return b->owners && b->piece ? 0 : -1;
}

void jp_jeblocks_release(struct jp_jeblocks *b)
{
	free(b->first);
	free(b->units);
	free(b->pages);
	free(b->owners);
	free(b->piece);
	free(b->stack);
	*b = (struct jp_jeblocks){ 0 };
}

unsigned jp_jeblocks_owner(const struct jp_jeblocks *b, size_t extent, unsigned place)
{
	return b->owners[b->first[extent] + place] & owner_mask;
}

uint64_t jp_jeblock_bytes(struct jp_memsource *m, const struct jp_jeextent *e, bool padded)
{
	if (e->slab || e->class < jp_je_small)
		return jp_jeclass_size(e->class);
	return e->size - (padded ? jp_memory_page : 0) - jp_memsource_untouched(m, e->first, jp_je_object_size(e));
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

/* The number of the live block that an address lies in; false: in none. */
static bool block_at(const struct jp_jeblocks *b, uint64_t address, uint32_t *number)
{
	if (address - b->low >= b->high - b->low)
		return false;
	uint64_t page = (address - b->low) / jp_memory_page;
	uint32_t table = b->units[page / unit_pages];
	uint32_t extent = table ? b->pages[(size_t)(table - 1) * unit_pages + page % unit_pages] : 0;
	const struct jp_jeextent *e = extent ? &b->extents->items[extent - 1] : NULL;
	if (!e || address < e->first)
		return false;
	uint64_t place = (address - e->first) / place_size(e);
	if (place >= jp_jeextent_places(e) || !jp_jeextent_lives(e, (unsigned)place))
		return false;
	*number = b->first[extent - 1] + (uint32_t)place;
	return true;
}

bool jp_jeblocks_find(const struct jp_jeblocks *b, uint64_t address, struct jp_jeblock *found)
{
	if (!b->count || !block_at(b, address, &found->number))
		return false;
	found->extent = jp_jeextents_find(b->extents, address);
	if (!found->extent)
		return false;
	found->size = place_size(found->extent);
	found->at = found->extent->first + (address - found->extent->first) / found->size * found->size;
	return true;
}

static void give_words(struct jp_jeblocks *b, const uint64_t *words, size_t count, unsigned owner, bool stacked)
{
	uint32_t number;
	for (size_t i = 0; i < count; i++) {
		if (!block_at(b, words[i] & address_mask, &number) || b->owners[number])
			continue;
		b->owners[number] = (uint16_t)(owner | (stacked ? 0 : read_next));
		if (!stacked)
			continue;
		if (jp_array_push(b->stack, b->stack_count, b->stack_cap)) {
			b->failed = true;
			return;
		}
		b->stack[b->stack_count++] = number;
	}
}

void jp_jeblocks_give(struct jp_jeblocks *b, const uint64_t *words, size_t count, unsigned owner)
{
	if (b->count)
		give_words(b, words, count, owner & owner_mask, false);
}

void jp_jeblocks_claim(struct jp_jeblocks *b, uint64_t address, unsigned owner)
{
	uint32_t number;
	if (b->count && block_at(b, address, &number) && !b->owners[number])
		b->owners[number] = (uint16_t)(owner & owner_mask);
}

/* ---- following ------------------------------------------------------------------------------------------------- */

static void read_block(struct jp_jeblocks *b, uint64_t at, uint64_t size, unsigned owner, bool stacked)
{
	uint64_t skip = -at & 7; /* an object may begin anywhere on a line of the processor, and words do not */
	for (uint64_t done = skip; done + 8 <= size; done += jp_memory_piece) {
		uint64_t n = size - done < jp_memory_piece ? size - done : jp_memory_piece;
		jp_memsource_copy(b->source, at + done, b->piece, (size_t)n);
		give_words(b, b->piece, (size_t)(n / 8), owner, stacked);
	}
}

/* Those of a slab that are to be read, from one reading of as many as a piece has room for. */
static void read_slab(struct jp_jeblocks *b, const struct jp_jeextent *e, uint16_t *owners)
{
	uint64_t size = jp_jeclass_size(e->class);
	unsigned step = (unsigned)(jp_memory_piece / size);
	for (unsigned from = 0; from < e->places; from += step) {
		unsigned to = e->places - from < step ? e->places : from + step;
		bool some = false;
		for (unsigned i = from; i < to; i++)
			some = some || owners[i] & to_be_read;
		if (!some)
			continue;
		jp_memsource_copy(b->source, e->first + from * size, b->piece, (size_t)((to - from) * size));
		for (unsigned i = from; i < to; i++)
			if (owners[i] & to_be_read)
				give_words(b, b->piece + (i - from) * size / 8, (size_t)size / 8,
				           owners[i] & owner_mask, false);
	}
}

/* What this level found is read with it; false: there was nothing. */
static bool begin_level(struct jp_jeblocks *b)
{
	bool some = false;
	for (size_t i = 0; i < b->count; i++) {
		bool next = b->owners[i] & read_next;
		b->owners[i] = (uint16_t)((b->owners[i] & owner_mask) | (next ? to_be_read : 0));
		some = some || next;
	}
	return some;
}

static void read_level(struct jp_jeblocks *b)
{
	for (size_t i = 0; i < b->extents->count; i++) {
		const struct jp_jeextent *e = &b->extents->items[i];
		uint16_t *owners = b->owners + b->first[i];
		if (e->slab && jp_jeextent_places(e))
			read_slab(b, e, owners);
		else if (jp_jeextent_places(e) && *owners & to_be_read && !e->past)
			read_block(b, e->first, place_size(e), *owners & owner_mask, false);
	}
}

static size_t extent_of_block(const struct jp_jeblocks *b, uint32_t number)
{
	size_t low = 0, high = b->extents->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		*(b->first[middle] <= number ? &low : &high) = middle;
	}
	return low;
}

/* Long chains, such as a list of all objects: one block after the other. */
static int read_chains(struct jp_jeblocks *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->owners[i] & to_be_read) {
			if (jp_array_push(b->stack, b->stack_count, b->stack_cap))
				return -1;
			b->stack[b->stack_count++] = (uint32_t)i;
			b->owners[i] &= owner_mask;
		}
	while (b->stack_count && !b->failed) {
		uint32_t number = b->stack[--b->stack_count];
		size_t extent = extent_of_block(b, number);
		const struct jp_jeextent *e = &b->extents->items[extent];
		if (!e->past)
			read_block(b, e->first + (number - b->first[extent]) * place_size(e), place_size(e),
			           b->owners[number], true);
	}
	return b->failed ? -1 : 0;
}

int jp_jeblocks_follow(struct jp_jeblocks *b)
{
	bool some = b->count && begin_level(b);
	for (int level = 0; some && level < most_levels; level++) {
		read_level(b);
		some = begin_level(b);
	}
	return some ? read_chains(b) : 0;
}
