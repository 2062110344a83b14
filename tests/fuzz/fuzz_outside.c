/* Target: the memory of a process, as it is read from outside. The input is words, each behind its address: what else
 * there is in the mappings is 0. Asserts that extents and pages of Ruby come in order and apart from each other, that
 * no class has more objects than places, and that each live block has one owner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "input/maps.h"
#include "outside/chunkowners.h"
#include "outside/copied.h"
#include "outside/jeblocks.h"
#include "outside/othermalloc.h"
#include "outside/referrers.h"
#include "outside/rubygraph.h"
#include "outside/v8heap.h"

enum { most_recorded_pages = 512 };

static const char recorded_maps[] = "7e0040000000-7e0044000000 rw-p 00000000 00:00 0 \n"
				    "7e1000000000-7e1004000000 rw-p 00000000 00:00 0 \n"
				    "7e2000000000-7e2000100000 rw-p 00000000 00:00 0 \n"
				    "7f0000000000-7f0000001000 rw-p 00000000 08:01 17 /usr/lib/libjemalloc.so.2\n"
				    "7f0000001000-7f0000300000 rw-p 00000000 00:00 0 \n"
				    "7f0000400000-7f0000401000 r--p 00000000 08:01 18 /usr/lib/libc.so.6\n";

struct recorded {
	struct jp_memsource base;
	struct {
		uint64_t number;
		unsigned char bytes[jp_memory_page];
	} pages[most_recorded_pages];
	size_t count;
};

static unsigned char *recorded_page(struct recorded *r, uint64_t number)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->pages[i].number == number)
			return r->pages[i].bytes;
	return NULL;
}

static size_t read_recorded(struct jp_memsource *source, uint64_t address, void *to, size_t size)
{
	struct recorded *r = (struct recorded *)source;
	for (size_t done = 0; done < size;) {
		const unsigned char *page = recorded_page(r, (address + done) / jp_memory_page);
		size_t at = (address + done) % jp_memory_page, n = jp_memory_page - at;
		if (!page)
			return done;
		n = n < size - done ? n : size - done;
		memcpy((char *)to + done, page + at, n);
		done += n;
	}
	return size;
}

static void look_at_recorded(struct jp_memsource *source, struct jp_memory_pages *unit)
{
	enum { pages = jp_memory_unit / jp_memory_page };
	const struct recorded *r = (const struct recorded *)source;
	for (size_t i = 0; i < r->count; i++)
		if (r->pages[i].number / pages == unit->number)
			unit->there[r->pages[i].number % pages / 64] |= 1ULL << r->pages[i].number % 64;
	memcpy(unit->alone, unit->there, sizeof unit->alone);
}

static void close_recorded(struct jp_memsource *source)
{
	free(source);
}

static struct recorded *record(const uint8_t *data, size_t size)
{
	static const uint64_t most_reading = 256 << 20;
	struct recorded *r = calloc(1, sizeof *r);
	must(r);
	r->base = (struct jp_memsource){ read_recorded, look_at_recorded, close_recorded, .left = most_reading };
	must(!jprof_maps_parse(recorded_maps, sizeof recorded_maps - 1, "maps", &r->base.maps, NULL));
	for (; size >= 16; data += 16, size -= 16) {
		uint64_t address, word;
		memcpy(&address, data, sizeof address);
		memcpy(&word, data + 8, sizeof word);
		address -= address % 8;
		unsigned char *page = recorded_page(r, address / jp_memory_page);
		if (!page && r->count < most_recorded_pages) {
			r->pages[r->count].number = address / jp_memory_page;
			page = r->pages[r->count++].bytes;
		}
		if (page)
			memcpy(page + address % jp_memory_page, &word, sizeof word);
	}
	return r;
}

static uint64_t check_extents(const struct jp_jeextents *x)
{
	uint64_t live = 0;
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		must(e->size && (!i || x->items[i - 1].base + x->items[i - 1].size <= e->base));
		must(e->places <= jp_je_places);
		for (unsigned place = 0; place < jp_jeextent_places(e); place++)
			live += jp_jeextent_lives(e, place);
	}
	return live;
}

static void check_heap(const struct jp_jeheap *h)
{
	for (unsigned i = 0; i < jp_je_small; i++)
		must(h->classes[i].taken <= h->classes[i].places);
	for (unsigned i = 0; i < jp_je_classes; i++)
		must(h->classes[i].cached <= h->classes[i].taken);
}

static void check_rubypages(const struct jp_rubypages *pages)
{
	for (size_t i = 0; i < pages->count; i++) {
		const struct jp_rubypage *p = &pages->items[i];
		must(p->first > p->at && p->first - p->at + (uint64_t)p->slot * p->count <= p->size);
		must(p->size <= jp_ruby_most_page && (!i || p[-1].at + p[-1].size <= p->at));
	}
}

static void check_census(const struct jp_rubycensus *c)
{
	uint64_t objects = 0;
	for (unsigned i = 0; i < jp_ruby_types; i++)
		objects += c->types[i].count;
	must(objects + c->free_slots == c->slots);
	for (size_t i = 0; i < c->class_count; i++)
		must(*c->classes[i].name && strlen(c->classes[i].name) < jp_ruby_name_size);
}

static void check_lost_block(void *context, uint64_t address, uint64_t size)
{
	must(address && size);
	++*(uint64_t *)context;
}

/* What nothing points to is what no owner has. */
static void check_lost(const struct jp_lostblocks *l, struct jp_memsource *m, const struct jp_jeextents *x,
                       const struct jp_referrers *r)
{
	uint64_t none = 0, handed = 0;
	struct jp_strbuf text = { 0 };
	struct jp_jsonout j = { .out = &text };
	const struct jprof_heap_opts opts = { .size = sizeof opts, .lost = check_lost_block, .context = &handed };
	for (size_t i = 0; i < r->count; i++)
		none += r->items[i].kind == JP_REFERRER_NONE ? r->items[i].blocks : 0;
	must(l->count == none || l->too_many || !r->count);
	for (size_t i = 1; i < l->count; i++)
		must(l->items[i - 1].address < l->items[i].address);
	must(!jp_lostblocks_write(l, m, x, true, &opts, &j));
	must(handed == (l->known ? l->count : 0));
	jp_strbuf_release(&text);
}

static void check_referrers(const struct jp_referrers *r, uint64_t live, uint64_t pages)
{
	uint64_t blocks = 0;
	for (size_t i = 0; i < r->count; i++) {
		must(r->items[i].kind <= JP_REFERRER_OTHER && strlen(r->items[i].name) < jp_rubyowner_size);
		blocks += r->items[i].blocks;
	}
	must(!r->count || (blocks <= live && live <= blocks + pages));
}

/* What is written is a graph that can be read, whatever the memory has. */
static void check_graph(struct recorded *r, const struct jp_jeextents *x, const struct jp_jeheap *heap,
                        const struct jp_rubypages *pages, struct jp_rubynames names)
{
	static const uint64_t singleton = 1 << 12;
	const struct jp_rubygraph graph = { &r->base, x, heap, pages, &names, singleton };
	struct jp_strbuf text = { 0 };
	struct jprof_rubyheap *read = NULL;
	const char *why;
	names.known = true;
	must(!jp_rubygraph_write(&graph, &text, &why));
	must(why || !jprof_rubyheap_parse(text.text, text.len, "graph", &read, NULL));
	jprof_rubyheap_free(read);
	jp_strbuf_release(&text);
}

/* The words as musl's malloc: nobody has more blocks than there are slots, nor bytes than there are. */
static void check_slotgroups(struct recorded *r, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                             const struct jp_rubycensus *census)
{
	struct jp_othermalloc musl = { .name = "musl" };
	struct jp_referrers referrers;
	struct jp_memwindow *window = malloc(sizeof *window);
	uint64_t blocks = 0, bytes = 0, slots = 0, room = 0, place = 0;
	size_t list = 0;
	must(window);
	jp_memwindow_open(window, &r->base);
	must(!jp_slotgroups_find(window, 0x7f0000000000, 0x7f0000300000, &musl.groups));
	for (size_t i = 0; i < musl.groups.count; i++) {
		const struct jp_slotgroup *g = &musl.groups.items[i];
		must(g->start < g->reach && (!i || (g[-1].start <= g->start && g[-1].reach <= g->reach)));
		slots += (unsigned)__builtin_popcount(g->used);
		room += g->size * (unsigned)__builtin_popcount(g->used);
	}
	for (uint64_t at; (at = jp_othermalloc_next(&musl, &list, &place));)
		must(jp_maps_find(r->base.maps, at));
	must(!jp_chunkowners_find(&r->base, &musl, pages, names, census, &referrers));
	for (size_t i = 0; i < referrers.count; i++) {
		blocks += referrers.items[i].blocks;
		bytes += referrers.items[i].bytes;
	}
	must(blocks <= slots && bytes <= room);
	jp_referrers_release(&referrers);
	jp_othermalloc_release(&musl);
	free(window);
}

static int open_nothing(const void *context, struct jp_memsource *source, const struct jprof_map *map)
{
	(void)context, (void)source, (void)map;
	return -1;
}

/* The parent has the first half of the words. */
static void check_copies(struct recorded *process, const uint8_t *data, size_t size)
{
	const struct jp_mapped_files none = { open_nothing, NULL };
	struct recorded *parent = record(data, size / 2);
	struct jprof_copies *copies = NULL;
	double bytes = 0;
	must(!jp_copies_find(&process->base, &parent->base, &none, &copies));
	for (size_t i = 0; i < jprof_copies_count(copies); i++)
		bytes += jprof_copies_at(copies, i)->bytes;
	must(fabs(bytes - jprof_copies_total(copies).copied) < 1);
	jprof_copies_free(copies);
	jp_memsource_close(&parent->base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recorded *r = record(data, size);
	struct jp_jeheap *heap = calloc(1, sizeof *heap);
	struct jp_jeextents extents;
	struct jp_rubypages pages;
	struct jp_rubycensus census;
	struct jp_referrers referrers;
	struct jp_lostblocks lost = { 0 };
	struct jp_othermalloc other;
	uint64_t variables[jp_ruby_known];
	for (unsigned i = 0; i < jp_ruby_known; i++)
		variables[i] = 0x7f0000000000 + 8 * i;
	must(heap && !jp_jeheap_take(&r->base, heap, &extents) && !jp_rubypages_find(&r->base, &pages));
	uint64_t live = check_extents(&extents);
	check_heap(heap);
	check_rubypages(&pages);
	struct jp_rubynames names = jp_rubynames_learn(&r->base, &pages, variables);
	must(!jp_othermalloc_find(&r->base, &other));
	must(other.arenas >= 1 && other.unused <= 64 << 20); /* the mapping has room for one heap */
	must(!jp_rubycensus_take(&r->base, &pages, &names, &extents, &other, &census));
	check_census(&census);
	must(!jp_referrers_find(&r->base, &extents, heap, &pages, &names, &census, &lost, &referrers));
	check_referrers(&referrers, live, pages.count);
	check_lost(&lost, &r->base, &extents, &referrers);
	jp_referrers_release(&referrers);
	must(!jp_chunkowners_find(&r->base, &other, &pages, &names, &census, &referrers));
	check_slotgroups(r, &pages, &names, &census);
	check_graph(r, &extents, heap, &pages, names);
	struct jp_v8heap v8 = jp_v8heap_find(&r->base);
	must(v8.bytes <= v8.space && v8.space <= 64 << 20);
	check_copies(r, data, size);
	jp_lostblocks_release(&lost);
	jp_referrers_release(&referrers);
	jp_othermalloc_release(&other);
	jp_rubycensus_release(&census);
	jp_rubypages_release(&pages);
	jp_jeextents_release(&extents);
	jp_memsource_close(&r->base);
	free(heap);
	return 0;
}
