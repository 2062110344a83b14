#include "outside/jecaches.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum {
	bins_offset = 16,  /* of a descriptor: { next, previous, bins } */
	link_size = 16,    /* before a descriptor of 5.3.0 and 5.3.1, in what the bins point back to */
	count_offset = 32, /* of a descriptor: number of bins, since 5.3.1 */
	bin_size = 24,     /* head 0, full 18, empty 20, limit 22 (since 5.3.1) */
	most_bins = 73,
	most_in_bin = 8192,
	most_caches = 1 << 20,
	most_distance = 16384, /* between a descriptor and its bins */
	page_words = jp_memory_page / 8,
};

struct cache_search {
	struct jp_memsource *source;
	struct jp_jeextents *extents;
	struct jp_jecaches *to;
	size_t scanned;    /* descriptors that the scan found: ascending */
	uint64_t *objects; /* of one bin */
};

/* ---- descriptors ------------------------------------------------------------------------------------------ */

/* True if descriptors are in a ring here, and the word before the bins is the address of what begins so many bytes
 * before this one. */
static bool owns_bins(struct jp_memsource *m, uint64_t at, uint64_t before)
{
	uint64_t words[3];
	if (!jp_memsource_read(m, at, words, sizeof words) || (words[0] | words[1] | words[2]) % 8)
		return false;
	if (jp_memsource_word(m, words[2] - 8) != at - before || words[2] - at < sizeof words)
		return false;
	return jp_memsource_word(m, words[0] + 8) == at && jp_memsource_word(m, words[1]) == at;
}

/* The link before a descriptor of 5.3.0 is in a ring, too, and behind it comes the next descriptor in place of bins: of
 * that the word before is a link. */
static bool is_descriptor(struct jp_memsource *m, uint64_t at)
{
	return owns_bins(m, at, link_size) || (owns_bins(m, at, 0) && !owns_bins(m, at + link_size, link_size));
}

static int note_descriptor(struct jp_jecaches *c, uint64_t at)
{
	if (c->count == most_caches)
		return 0;
	if (jp_array_push(c->descriptors, c->count, c->cap))
		return -1;
	c->descriptors[c->count++] = at;
	return 0;
}

/* A word may be a descriptor's address of its bins: the word before those, where it is at hand, points back. */
static bool may_be_bins(const uint64_t *words, size_t count, size_t i, uint64_t here)
{
	uint64_t near = words[i] - here + most_distance;
	if (near >= 2 * most_distance || words[i] % 8)
		return false;
	uint64_t back = (words[i] - 8 - (here - i * 8)) / 8;
	return back >= count || words[back] == here - bins_offset || words[back] == here - bins_offset - link_size;
}

static int scan_run(struct cache_search *s, uint64_t at, size_t pages, uint64_t *words)
{
	size_t count = pages * page_words;
	jp_memsource_copy(s->source, at, words, pages * jp_memory_page);
	for (size_t i = 0; i < count; i++) {
		uint64_t here = at + i * 8;
		if (may_be_bins(words, count, i, here) && is_descriptor(s->source, here - bins_offset) &&
		    note_descriptor(s->to, here - bins_offset))
			return -1;
	}
	return 0;
}

static bool is_scanned(struct cache_search *s, uint64_t page)
{
	return jp_memsource_has(s->source, page) && !jp_jeextents_find(s->extents, page);
}

static int scan_mapping(struct cache_search *s, const struct jprof_map *map, uint64_t *words)
{
	enum { most_pages = jp_memory_piece / jp_memory_page };
	for (uint64_t at = map->start; at < map->limit && s->source->left; at += jp_memory_page) {
		size_t pages = 0;
		if (at % jp_memory_unit == 0 && jp_jeextents_own(s->extents, at / jp_memory_unit)) {
			at += jp_memory_unit - jp_memory_page;
			continue;
		}
		while (pages < most_pages && at + pages * jp_memory_page < map->limit &&
		       is_scanned(s, at + pages * jp_memory_page))
			pages++;
		if (pages && scan_run(s, at, pages, words))
			return -1;
		at += (pages ? pages - 1 : 0) * jp_memory_page;
	}
	return 0;
}

static int scan_memory(struct cache_search *s)
{
	uint64_t *words = malloc(jp_memory_piece);
	int failed = words ? 0 : -1;
	for (size_t i = 0; !failed && i < jprof_maps_count(s->source->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(s->source->maps, i);
		bool stack = !strncmp(map->path, "[stack", 6) && map->writable;
		if (jp_map_is_heap(map) || stack)
			failed = scan_mapping(s, map, words);
	}
	s->scanned = s->to->count;
	free(words);
	return failed;
}

static bool is_noted(const struct cache_search *s, uint64_t at)
{
	const struct jp_jecaches *c = s->to;
	size_t i = jp_count_below(c->descriptors, s->scanned, sizeof *c->descriptors, at);
	return i < s->scanned && c->descriptors[i] == at;
}

/* Caches that lie in objects of malloc are found by the rings only: those of tcache.create. */
static int follow_rings(struct cache_search *s)
{
	struct jp_jecaches *c = s->to;
	for (size_t i = 0; i < s->scanned; i++) {
		uint64_t at = jp_memsource_word(s->source, c->descriptors[i]);
		for (; at && !is_noted(s, at) && c->count < most_caches; at = jp_memsource_word(s->source, at)) {
			if (!is_descriptor(s->source, at))
				break;
			if (note_descriptor(c, at))
				return -1;
		}
	}
	return 0;
}

/* ---- what is in them ----------------------------------------------------------------------------------------- */

/* Marks an object as free, if it is one that is taken. */
static bool mark_object(struct jp_jeextents *x, uint64_t object, unsigned class)
{
	struct jp_jeextent *e = jp_jeextents_find(x, object);
	if (!e || e->state != JP_JE_ACTIVE || e->class != class || object < e->first)
		return false;
	if (!e->slab) {
		bool first = !e->cached && object == e->first;
		e->cached = e->cached || first;
		return first;
	}
	uint64_t place = (object - e->first) / jp_jeclass_size(class);
	if ((object - e->first) % jp_jeclass_size(class) || place >= e->places || e->free[place / 64] >> place % 64 & 1)
		return false;
	e->free[place / 64] |= 1ULL << place % 64;
	return true;
}

static uint16_t half_at(const unsigned char *bytes, size_t at)
{
	uint16_t half;
	memcpy(&half, bytes + at, sizeof half);
	return half;
}

/* The head of a bin that is switched off points to a constant, which is no heap. */
static void mark_bin(struct cache_search *s, const unsigned char bin[bin_size], unsigned class, bool limited)
{
	enum { empty_at = 20, limit_at = 22 };
	uint64_t head;
	memcpy(&head, bin, sizeof head);
	size_t count = (uint16_t)(half_at(bin, empty_at) - (uint16_t)head) / 8;
	if (!head || head % 8 || !jp_memsource_heap(s->source, head))
		return;
	struct jp_jeextent *holder = jp_jeextents_find(s->extents, head);
	if (holder)
		holder->past = !holder->slab;
	if (!count || (limited && count > half_at(bin, limit_at)) ||
	    !jp_memsource_read(s->source, head, s->objects, count * 8))
		return;
	for (size_t i = 0; i < count; i++) {
		if (mark_object(s->extents, s->objects[i], class))
			s->to->objects[class]++;
		else
			s->to->misfits++;
	}
}

static void mark_cache(struct cache_search *s, uint64_t descriptor)
{
	enum { limit_at = 22 };
	unsigned char bins[most_bins * bin_size];
	uint64_t at = jp_memsource_word(s->source, descriptor + bins_offset);
	uint32_t count = most_bins;
	memset(bins, 0, sizeof bins);
	if (!at || !jp_memsource_has(s->source, at))
		return;
	jp_memsource_copy(s->source, at, bins, sizeof bins);
	bool limited = half_at(bins, limit_at) != 0;
	if (limited && !jp_memsource_read(s->source, descriptor + count_offset, &count, sizeof count))
		return;
	bool linked = jp_memsource_word(s->source, at - 8) != descriptor;
	s->to->version = !linked ? "later than 5.3.1" : limited ? "5.3.1" : "5.3.0";
	for (unsigned class = 0; class < count && class < most_bins; class ++)
		mark_bin(s, bins + class * bin_size, class, limited);
}

int jp_jecaches_find(struct jp_memsource *source, struct jp_jeextents *extents, struct jp_jecaches *caches)
{
	struct cache_search s = { .source = source, .extents = extents, .to = caches };
	*caches = (struct jp_jecaches){ 0 };
	jp_memsource_forget(source);
	s.objects = malloc(most_in_bin * sizeof *s.objects);
	int failed = !s.objects || scan_memory(&s) || follow_rings(&s) ? -1 : 0;
	for (size_t i = 0; !failed && i < caches->count; i++)
		mark_cache(&s, caches->descriptors[i]);
	free(s.objects);
	return failed;
}

void jp_jecaches_release(struct jp_jecaches *caches)
{
	free(caches->descriptors);
	*caches = (struct jp_jecaches){ 0 };
}
