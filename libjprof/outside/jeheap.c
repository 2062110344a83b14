#include "outside/jeheap.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/jsonout.h"
#include "outside/jecaches.h"

/* ---- counting ----------------------------------------------------------------------------------------------- */

uint64_t jp_je_object_size(const struct jp_jeextent *e)
{
	uint64_t size = e->size - (e->first != e->base || e->size > jp_jeclass_size(e->class) ? jp_memory_page : 0);
	return size < e->base + e->size - e->first ? size : e->base + e->size - e->first;
}

static bool has_live_place(const struct jp_jeextent *e, uint64_t page)
{
	uint64_t size = jp_jeclass_size(e->class), from = page - e->base;
	for (uint64_t place = from / size; place < e->places && place * size < from + jp_memory_page; place++)
		if (!(e->free[place / 64] >> place % 64 & 1))
			return true;
	return false;
}

/* In a core a page of zeros with a live object on it was touched. */
static uint64_t untouched_of_slab(struct jp_memsource *m, const struct jp_jeextent *e)
{
	uint64_t bytes = 0;
	if (!m->of_core)
		return jp_memsource_untouched(m, e->base, e->size);
	for (uint64_t at = e->base; at - e->base < e->size; at += jp_memory_page)
		bytes += jp_memsource_has(m, at) || has_live_place(e, at) ? 0 : jp_memory_page;
	return bytes;
}

static void count_untouched(struct jp_jeheap *h, struct jp_memsource *m, const struct jp_jeextent *e)
{
	if (e->state != JP_JE_ACTIVE && e->state != JP_JE_DIRTY && e->state != JP_JE_MUZZY)
		return;
	uint64_t all = e->slab ? untouched_of_slab(m, e) : jp_memsource_untouched(m, e->base, e->size);
	if (e->state != JP_JE_ACTIVE) {
		h->untouched_idle += all;
	} else if (e->slab) {
		h->untouched_pages += all; /* of free places, and of such that a cache took and nobody used */
	} else if (e->class < jp_je_small) {
		h->sampled_memory += e->cached ? 0 : e->size - all;
	} else {
		uint64_t object = jp_memsource_untouched(m, e->first, jp_je_object_size(e));
		*(e->cached ? &h->untouched_cached : &h->classes[e->class].untouched) += object;
		h->untouched_pages += all - object;
	}
}

static void count_sampled(struct jp_jeheap *h, const struct jp_jeextent *e)
{
	h->classes[e->class].sampled++;
	h->sampled_extents += e->size;
	h->sampled_large += e->size >= jp_je_first_large;
	h->sampled_padded += e->size >= jp_je_first_large + jp_memory_page;
}

static void count_active(struct jp_jeheap *h, const struct jp_jeextent *e)
{
	struct jp_jeclass *class = &h->classes[e->class];
	if (e->slab) {
		class->slabs++;
		class->places += e->places;
		class->taken += e->places - jp_je_bits(e->free, e->places);
	} else if (e->class < jp_je_small) {
		if (!e->cached)
			count_sampled(h, e);
	} else {
		class->taken += !e->cached;
		class->extents += e->size;
		h->padded = h->padded || e->first != e->base || e->size > jp_jeclass_size(e->class);
	}
	h->arena_active[e->arena % jp_je_arenas] += e->size;
	if (h->arenas <= e->arena)
		h->arenas = e->arena + 1U;
}

static void count_extents(struct jp_jeheap *h, struct jp_memsource *m, const struct jp_jeextents *x)
{
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		h->bytes[e->state % jp_je_states] += e->size;
		if (e->state == JP_JE_ACTIVE && e->class < jp_je_classes)
			count_active(h, e);
		if (e->class < jp_je_classes || e->state != JP_JE_ACTIVE)
			count_untouched(h, m, e);
	}
	h->torn = x->torn;
	h->mended = x->mended;
	h->cut = x->too_many;
}

/* Objects in caches were marked as free, and jemalloc counts them as taken. */
static void count_caches(struct jp_jeheap *h, const struct jp_jecaches *c)
{
	h->caches = c->count;
	h->misfits = c->misfits;
	for (size_t i = 0; i < jp_je_classes; i++) {
		h->classes[i].cached = c->objects[i];
		h->classes[i].taken += c->objects[i];
	}
}

static void count_metadata(struct jp_jeheap *h, struct jp_memsource *m, const struct jp_jeextents *x)
{
	enum { pages = jp_memory_unit / jp_memory_page };
	for (size_t i = 0; i < x->unit_count; i++)
		h->metadata += jp_je_bits(jp_memsource_unit(m, x->units[i])->there, pages) * (uint64_t)jp_memory_page;
}

/* *extents and *caches are to be released in any case. */
static int read_heap_tables(struct jp_memsource *m, const struct jp_jemap *map, struct jp_jeheap *h,
                            struct jp_jeextents *extents, struct jp_jecaches *caches)
{
	if (jp_jeextents_walk(m, map, extents) || (map->layout->caches && jp_jecaches_find(m, extents, caches)))
		return -1;
	h->version = caches->version ? caches->version : map->layout->version;
	h->caches_known = map->layout->caches;
	count_extents(h, m, extents);
	count_caches(h, caches);
	count_metadata(h, m, extents);
	h->cut = h->cut || !m->left;
	return 0;
}

/* *file: whose jemalloc it is. */
static int take_heap_of(struct jp_memsource *source, const char *but_for, const char **file, struct jp_jeheap *heap,
                        struct jp_jeextents *extents)
{
	struct jp_jemap map;
	struct jp_jecaches caches = { 0 };
	*heap = (struct jp_jeheap){ 0 };
	*extents = (struct jp_jeextents){ 0 };
	int failed = jp_jemap_find(source, but_for, &map);
	if (!failed && map.layout)
		failed = read_heap_tables(source, &map, heap, extents, &caches);
	*file = map.file;
	jp_jecaches_release(&caches);
	jp_jemap_release(&map);
	return failed;
}

/* A library that is preloaded into a program with a jemalloc of its own has next to nothing. */
static int take_another(struct jp_memsource *source, const char *idle, struct jp_jeheap *heap,
                        struct jp_jeextents *extents)
{
	struct jp_jeextents others;
	struct jp_jeheap *other = malloc(sizeof *other);
	const char *file;
	int failed = other ? take_heap_of(source, idle, &file, other, &others) : -1;
	if (!failed && other->bytes[JP_JE_ACTIVE] > heap->bytes[JP_JE_ACTIVE]) {
		struct jp_jeextents idle_ones = *extents;
		*heap = *other;
		*extents = others;
		others = idle_ones;
	}
	if (other)
		jp_jeextents_release(&others);
	free(other);
	return failed;
}

int jp_jeheap_take(struct jp_memsource *source, struct jp_jeheap *heap, struct jp_jeextents *extents)
{
	enum { idle_bytes = 1 << 20 };
	const char *file;
	if (take_heap_of(source, NULL, &file, heap, extents))
		return -1;
	return heap->version && heap->bytes[JP_JE_ACTIVE] < idle_bytes ? take_another(source, file, heap, extents) : 0;
}

int jp_jeheap_read(struct jp_memsource *source, struct jp_jeheap *heap)
{
	struct jp_jeextents jp_cleanup(jp_jeextents_release) extents;
	return jp_jeheap_take(source, heap, &extents);
}

/* Of large objects 5.3.1 counts whole pages, and 5.3.0 their class, which is what their extents have there. */
static uint64_t bytes_of_large(const struct jp_jeheap *h, unsigned class)
{
	return h->classes[class].extents - (h->padded ? h->classes[class].taken * jp_memory_page : 0);
}

uint64_t jp_jeheap_sampled_counted(const struct jp_jeheap *h)
{
	return h->padded ? h->sampled_padded : h->sampled_large;
}

uint64_t jp_jeheap_allocated(const struct jp_jeheap *h)
{
	uint64_t bytes = jp_jeheap_sampled_counted(h) * jp_je_first_large;
	for (unsigned i = 0; i < jp_je_small; i++)
		bytes += h->classes[i].taken * jp_jeclass_size(i);
	for (unsigned i = jp_je_small; i < jp_je_classes; i++)
		bytes += bytes_of_large(h, i);
	return bytes;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static uint64_t cached_bytes(const struct jp_jeheap *h)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < jp_je_classes; i++)
		bytes += h->classes[i].cached * jp_jeclass_size(i);
	return bytes;
}

static void put_kinds(struct jp_jsonout *j, const struct jp_jeheap *h)
{
	jp_jsonout_put(j, "arenas:{\nnarenas:%u page:%zu bin:[\n", h->arenas, (size_t)jp_memory_page);
	for (unsigned i = 0; i < jp_je_small; i++) {
		const struct jp_jeclass *c = &h->classes[i];
		jp_jsonout_put(j, "{size:%ju nregs:%ju}", jp_jeclass_size(i), c->slabs ? c->places / c->slabs : 0);
	}
	jp_jsonout_put(j, "]}");
}

static void put_sums(struct jp_jsonout *j, const struct jp_jeheap *h)
{
	uint64_t kept = h->bytes[JP_JE_DIRTY] + h->bytes[JP_JE_MUZZY], active = h->bytes[JP_JE_ACTIVE];
	jp_jsonout_put(j, "stats:{\nallocated:%ju active:%ju metadata:%ju resident:%ju mapped:%ju retained:%ju}",
	               jp_jeheap_allocated(h), active, h->metadata, active + h->bytes[JP_JE_DIRTY] + h->metadata,
	               active + kept + h->metadata, h->bytes[JP_JE_RETAINED]);
}

/* Small objects, or large ones, of each class. */
static void put_classes_of_heap(struct jp_jsonout *j, const struct jp_jeheap *h, bool small)
{
	jp_jsonout_open(j, small ? "bins" : "lextents", '[', false);
	for (unsigned i = small ? 0 : jp_je_small; i < (small ? jp_je_small : jp_je_classes); i++) {
		const struct jp_jeclass *c = &h->classes[i];
		if (small)
			jp_jsonout_put(j, "{curregs:%ju curslabs:%ju cached:%ju sampled:%ju}", c->taken, c->slabs,
			               c->cached, c->sampled);
		else
			jp_jsonout_put(j, "{curlextents:%ju cached:%ju bytes:%ju untouched:%ju size:%ju}", c->taken,
			               c->cached, bytes_of_large(h, i), c->untouched, jp_jeclass_size(i));
	}
	jp_jsonout_close(j);
}

static void put_arenas(struct jp_jsonout *j, const struct jp_jeheap *h)
{
	jp_jsonout_put(j, "stats.arenas:{\nmerged:{\npactive:%ju pdirty:%ju pmuzzy:%ju tcache_bytes:%ju",
	               h->bytes[JP_JE_ACTIVE] / jp_memory_page, h->bytes[JP_JE_DIRTY] / jp_memory_page,
	               h->bytes[JP_JE_MUZZY] / jp_memory_page, cached_bytes(h));
	put_classes_of_heap(j, h, true);
	put_classes_of_heap(j, h, false);
	jp_jsonout_close(j);
	for (unsigned i = 0; i < h->arenas; i++) {
		char name[16];
		snprintf(name, sizeof name, "%u", i);
		if (!h->arena_active[i])
			continue;
		jp_jsonout_open(j, name, '{', true);
		jp_jsonout_put(j, "pactive:%ju}", h->arena_active[i] / jp_memory_page);
	}
	jp_jsonout_close(j);
}

void jp_jeheap_write(const struct jp_jeheap *h, struct jp_jsonout *j)
{
	jp_jsonout_put(j, "source:%s caches:%zu caches_known:%i torn:%zu mended:%zu misfits:%zu cut:%i",
	               "memory of the process", h->caches, h->caches_known, h->torn, h->mended, h->misfits, h->cut);
	jp_jsonout_put(j, "untouched_idle:%ju untouched_pages:%ju untouched_cached:%ju", h->untouched_idle,
	               h->untouched_pages, h->untouched_cached);
	jp_jsonout_put(j, "sampled_memory:%ju sampled_extents:%ju sampled_counted:%ju", h->sampled_memory,
	               h->sampled_extents, jp_jeheap_sampled_counted(h));
	jp_jsonout_put(j, "jemalloc:{\nversion:%s opt:{background_thread:%i} config:{cache_oblivious:%i}", h->version,
	               h->background_thread, h->padded);
	put_kinds(j, h);
	put_sums(j, h);
	put_arenas(j, h);
	jp_jsonout_close(j);
}
