#include "plantedheap.h"

#include "harness.h"

static unsigned char *page_of(struct planted *p, uint64_t address)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->pages[i].number == address / jp_memory_page)
			return p->pages[i].bytes;
	return NULL;
}

static size_t planted_read(struct jp_memsource *source, uint64_t address, void *to, size_t size)
{
	struct planted *p = (struct planted *)source;
	p->reads++;
	for (size_t done = 0; done < size; done++) {
		unsigned char *page = page_of(p, address + done);
		if (!page)
			return done;
		size_t at = (address + done) % jp_memory_page, n = jp_memory_page - at;
		n = n < size - done ? n : size - done;
		memcpy((char *)to + done, page + at, n);
		done += n - 1;
	}
	return size;
}

static void planted_look(struct jp_memsource *source, struct jp_memory_pages *unit)
{
	const struct planted *p = (const struct planted *)source;
	enum { pages = jp_memory_unit / jp_memory_page };
	for (size_t i = 0; i < p->count; i++)
		if (p->pages[i].number / pages == unit->number)
			unit->there[p->pages[i].number % pages / 64] |= 1ULL << p->pages[i].number % 64;
}

static void planted_close(struct jp_memsource *source)
{
	struct planted *p = (struct planted *)source;
	free(p->pages);
	free(p);
}

void planted_put(struct planted *p, uint64_t address, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t at = (address + done) % jp_memory_page, n = jp_memory_page - at;
		unsigned char *page = page_of(p, address + done);
		if (!page) {
			assert_true(p->count < planted_pages);
			p->pages[p->count].number = (address + done) / jp_memory_page;
			page = p->pages[p->count++].bytes;
			memset(page, 0, jp_memory_page);
		}
		n = n < size - done ? n : size - done;
		memcpy(page + at, (const char *)data + done, n);
		done += n;
	}
}

void planted_word(struct planted *p, uint64_t address, uint64_t word)
{
	planted_put(p, address, &word, sizeof word);
}

/* ---- tables ----------------------------------------------------------------------------------------------- */

#define LEAF (PLANTED_TABLE + 0x2000c0)
#define NODE (PLANTED_TABLE + 0x800040)

static uint64_t entry_place(const struct planted *p, uint64_t page)
{
	unsigned bit = 12 + p->layout->level_bits;
	return LEAF + (page % (1ULL << bit) >> 12) * p->layout->entry_size;
}

static void put_entry(struct planted *p, uint64_t page, uint64_t record, unsigned class, unsigned state, bool slab)
{
	uint64_t low = (uint64_t)slab | (p->layout->entry_state ? state << 2 | 2 : 0);
	if (p->layout->entry_size == 8) {
		planted_word(p, entry_place(p, page), record | (uint64_t) class << 48 | low);
		return;
	}
	planted_word(p, entry_place(p, page), record);
	planted_word(p, entry_place(p, page) + 8, low | class << 5);
}

static void put_root(struct planted *p)
{
	unsigned bits = p->layout->level_bits;
	uint64_t used = PLANTED_HEAP >> (12 + bits), index = p->layout->levels == 2 ? used : used >> bits;
	planted_word(p, PLANTED_ROOT + 8 * index, p->layout->levels == 2 ? LEAF : NODE);
	if (p->layout->levels == 3)
		planted_word(p, NODE + 8 * (used % (1ULL << bits)), LEAF);
}

struct planted *planted_new(const struct jp_jelayout *layout)
{
	static const char maps[] =
	    "7e0040000000-7e0044000000 rw-p 00000000 00:00 0 \n"
	    "7e1000000000-7e1004000000 rw-p 00000000 00:00 0 \n"
	    "7e2000000000-7e2000100000 rw-p 00000000 00:00 0 \n"
	    "7f0000000000-7f0000001000 rw-p 00004000 fe:01 33                         /usr/lib/libjemalloc.so.2\n"
	    "7f0000001000-7f0000300000 rw-p 00000000 00:00 0 \n";
	struct planted *p = calloc(1, sizeof *p);
	assert_non_null(p);
	p->pages = calloc(planted_pages, sizeof *p->pages);
	assert_non_null(p->pages);
	p->base = (struct jp_memsource){ planted_read, planted_look, planted_close, .left = 1 << 30 };
	assert_int_equal(jprof_maps_parse(maps, sizeof maps - 1, "maps", &p->base.maps, NULL), 0);
	p->layout = layout;
	p->records = PLANTED_TABLE + 0x1000000;
	put_root(p);
	return p;
}

uint64_t planted_extent(struct planted *p, uint64_t base, uint64_t size, unsigned class, enum jp_je_state state,
                        unsigned taken)
{
	const struct jp_jelayout *l = p->layout;
	uint64_t record = p->records, words[16] = { 0 };
	bool slab = class < jp_je_small && state == JP_JE_ACTIVE;
	unsigned places = slab ? (unsigned)(size / jp_jeclass_size(class)) : 0;
	for (unsigned i = taken; i < places; i++)
		words[8 + i / 64] |= 1ULL << i % 64;
	words[0] = 1 | (uint64_t)slab << 12 | (uint64_t)state << l->state_at | (uint64_t) class << l->class_at |
	           (uint64_t)(places - (slab ? taken : places)) << l->free_at;
	words[1] = base + (slab || state != JP_JE_ACTIVE ? 0 : 0x40);
	words[2] = size | 7; /* a serial number is in the low bits */
	planted_put(p, record, words, sizeof words);
	p->records += jp_je_record_size;
	for (uint64_t page = base; page < base + size; page += slab ? jp_memory_page : size - jp_memory_page)
		put_entry(p, page, record, class, state, slab);
	return record;
}

/* S: link of 16 bytes, descriptor, arena ... ; T: address of S, 73 bins of 24 bytes. */
uint64_t planted_cache(struct planted *p, uint64_t at, unsigned class, const uint64_t *objects, size_t count)
{
	uint64_t descriptor = at + 16, bins = at + 0x408, stack = at + 0x2000;
	uint64_t slow[] = { at, at, descriptor, descriptor, bins }, bin[3] = { stack };
	bin[2] = (stack + 8 * count) << 32 & 0xffff00000000ULL;
	planted_put(p, at, slow, sizeof slow);
	planted_word(p, bins - 8, at);
	planted_put(p, bins + 24ULL * class, bin, sizeof bin);
	planted_put(p, stack, objects, count * sizeof *objects);
	return descriptor;
}
