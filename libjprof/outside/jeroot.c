#include "outside/jeroot.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A false candidate costs little more than a read. Those of one process without jemalloc were 3,000 at most. */
enum { most_candidates = 100000, most_used = 1 << 20 };

enum { piece_bytes = 16 << 10 }; /* of a table, that are read at once: the first tells of most that are none */
static const uint64_t most_search = 512 << 20;

struct root_search {
	struct jp_memsource *source;
	struct jp_jemap *map;
	const struct jp_jelayout *layout;
	const char *but_for; /* a file; NULL */
	uint64_t *used;      /* address >> leaf bit of all memory that malloc's may be, ascending */
	size_t used_count, used_cap;
	unsigned char *piece;
};

/* ---- addresses in use ------------------------------------------------------------------------------------- */

static int list_used(struct root_search *s)
{
	unsigned bit = jp_jelayout_leaf_bit(s->layout);
	s->used_count = 0;
	for (size_t i = 0; i < jprof_maps_count(s->source->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(s->source->maps, i);
		if (!jp_map_is_heap(map))
			continue;
		for (uint64_t u = map->start >> bit; u <= (map->limit - 1) >> bit && s->used_count < most_used; u++) {
			if (s->used_count && s->used[s->used_count - 1] >= u)
				continue;
			if (jp_array_push(s->used, s->used_count, s->used_cap))
				return -1;
			s->used[s->used_count++] = u;
		}
	}
	return 0;
}

/* ---- is it a table ------------------------------------------------------------------------------------------ */

/* A table lies in memory that jemalloc mapped. */
static bool is_table_place(const struct root_search *s, uint64_t at, uint64_t size)
{
	const struct jprof_map *map = at % 64 ? NULL : jp_memsource_heap(s->source, at);
	return map && size <= map->limit - at;
}

bool jp_jemap_record(struct jp_memsource *source, const struct jp_jelayout *layout, const struct jp_jeentry *entry,
                     uint64_t page, struct jp_jerecord *record)
{
	unsigned char bytes[jp_je_record_size];
	if (!jp_memsource_heap(source, entry->record) || !jp_memsource_read(source, entry->record, bytes, sizeof bytes))
		return false;
	*record = jp_jerecord_of(layout, bytes);
	if (page < record->base || page - record->base >= record->size)
		return false;
	/* Other entries than these are not kept up to date; an extent that is not in use has no class. */
	bool exact = (page == record->base || record->slab) && record->class < jp_je_classes;
	if (record->state != JP_JE_ACTIVE)
		return record->class == jp_je_classes || record->state >= JP_JE_PASSING;
	return record->class <= jp_je_classes &&
	       (!exact || (record->class == entry->class && record->slab == entry->slab));
}

struct leaf_verdict {
	unsigned seen, good;
};

/* Enough was seen to know what it is. */
static bool is_judged(const struct leaf_verdict *v)
{
	enum { enough_bad = 32, enough = 1024 };
	return v->seen >= enough || (v->seen >= enough_bad && v->good * 4 < v->seen * 3);
}

/* Tries up to 64 of the entries of a piece. */
static void judge_piece(const struct root_search *s, size_t count, uint64_t base, struct leaf_verdict *v)
{
	enum { tries = 64 };
	unsigned size = s->layout->entry_size;
	size_t used = 0, seen = 0;
	struct jp_jerecord record;
	for (size_t i = 0; i < count; i++)
		used += jp_jeentry_of(s->layout, s->piece + i * size).record != 0;
	size_t step = used / tries + 1;
	for (size_t i = 0; i < count && !is_judged(v); i++) {
		struct jp_jeentry e = jp_jeentry_of(s->layout, s->piece + i * size);
		if ((!e.record && e.sound) || (e.record && seen++ % step))
			continue;
		v->seen++;
		v->good += e.sound && jp_jemap_record(s->source, s->layout, &e, base + i * jp_memory_page, &record);
	}
}

/* Whether the table can be one; *good says that it has entries that prove it. */
static bool judge_leaf(const struct root_search *s, const struct jp_jeleaf *leaf, bool *good)
{
	struct leaf_verdict v = { 0 };
	size_t size = s->layout->entry_size, bytes = jp_jelayout_entries(s->layout) * size;
	for (size_t done = 0; done < bytes && !is_judged(&v); done += piece_bytes) {
		jp_memsource_copy(s->source, leaf->at + done, s->piece, piece_bytes);
		judge_piece(s, piece_bytes / size, leaf->base + done / size * jp_memory_page, &v);
	}
	*good = *good || v.good;
	return v.good * 4 >= v.seen * 3;
}

/* ---- is it a root -------------------------------------------------------------------------------------------- */

/* The table for a range of addresses in use, by a root at `root`; 0: none. False: what is there can be none. */
static bool leaf_below(const struct root_search *s, uint64_t root, uint64_t used, uint64_t *at)
{
	const struct jp_jelayout *l = s->layout;
	uint64_t entries = jp_jelayout_entries(l);
	*at = jp_memsource_word(s->source, root + 8 * (l->levels == 2 ? used : used >> l->level_bits));
	if (l->levels == 3 && *at) {
		if (!is_table_place(s, *at, entries * 8))
			return false;
		*at = jp_memsource_word(s->source, *at + 8 * (used % entries));
	}
	return !*at || is_table_place(s, *at, entries * l->entry_size);
}

/* Notes the leaves of a root that is one. */
static int try_root(struct root_search *s, uint64_t root)
{
	struct jp_jemap *m = s->map;
	bool good = false;
	m->count = 0;
	m->candidates++;
	for (size_t i = 0; i < s->used_count; i++) {
		struct jp_jeleaf leaf = { .base = s->used[i] << jp_jelayout_leaf_bit(s->layout) };
		if (!leaf_below(s, root, s->used[i], &leaf.at))
			return 0;
		if (!leaf.at)
			continue;
		if (!judge_leaf(s, &leaf, &good))
			return 0;
		if (jp_array_push(m->leaves, m->count, m->cap))
			return -1;
		m->leaves[m->count++] = leaf;
	}
	if (good) {
		m->layout = s->layout;
		m->root = root;
	}
	return 0;
}

/* ---- where roots may be -------------------------------------------------------------------------------------- */

/* A word that may be the root's entry for each of the addresses in use: then the root begins before it. */
static int try_word(struct root_search *s, uint64_t at, uint64_t word, uint64_t lo, uint64_t hi)
{
	const struct jp_jelayout *l = s->layout;
	uint64_t entries = jp_jelayout_entries(l), last = UINT64_MAX;
	if (!word || !is_table_place(s, word, entries * (l->levels == 2 ? l->entry_size : 8)))
		return 0;
	for (size_t i = 0; i < s->used_count && !s->map->layout && s->map->candidates < most_candidates; i++) {
		uint64_t index = l->levels == 2 ? s->used[i] : s->used[i] >> l->level_bits;
		if (index == last || index >= entries || 8 * index > at - lo || hi - (at - 8 * index) < entries * 8)
			continue;
		last = index;
		if (try_root(s, at - 8 * index))
			return -1;
	}
	return 0;
}

static int search_segment(struct root_search *s, uint64_t lo, uint64_t hi)
{
	uint64_t *words = malloc(jp_memory_piece);
	int failed = words ? 0 : -1;
	for (uint64_t at = lo; !failed && at < hi && !s->map->layout; at += jp_memory_piece) {
		size_t size = hi - at < jp_memory_piece ? (size_t)(hi - at) : jp_memory_piece;
		jp_memsource_copy(s->source, at, words, size);
		for (size_t i = 0; !failed && i < size / 8 && !s->map->layout; i++)
			failed = try_word(s, at + i * 8, words[i], lo, hi);
	}
	free(words);
	return failed;
}

static int search_files(struct root_search *s, bool named)
{
	const struct jprof_maps *maps = s->source->maps;
	uint64_t least = jp_jelayout_entries(s->layout) * 8, hi;
	for (size_t i = 0; i < jprof_maps_count(maps) && !s->map->layout; i++) {
		const struct jprof_map *data = jprof_maps_at(maps, i);
		if (!!strstr(data->path, "jemalloc") != named || !jp_memsource_data(s->source, i, &hi) ||
		    hi - data->start < least || (s->but_for && !strcmp(data->path, s->but_for)))
			continue;
		s->map->file = data->path;
		if (search_segment(s, data->start, hi))
			return -1;
	}
	return 0;
}

int jp_jemap_find(struct jp_memsource *source, const char *but_for, struct jp_jemap *map)
{
	struct root_search s = { .source = source, .map = map, .but_for = but_for, .piece = malloc(piece_bytes) };
	uint64_t beyond = source->left > most_search ? source->left - most_search : 0;
	int failed = s.piece ? 0 : -1;
	*map = (struct jp_jemap){ 0 };
	source->left -= beyond;
	for (size_t i = 0; i < 2 * jp_jelayout_count && !failed && !map->layout; i++) {
		s.layout = &jp_jelayouts[i % jp_jelayout_count];
		failed = list_used(&s) || search_files(&s, i < jp_jelayout_count);
	}
	source->left += beyond;
	free(s.piece);
	free(s.used);
	return failed;
}

void jp_jemap_release(struct jp_jemap *map)
{
	free(map->leaves);
	*map = (struct jp_jemap){ 0 };
}
