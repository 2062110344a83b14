#include "outside/othermalloc.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t heap_step = 64 << 20; /* HEAP_MAX_SIZE where pages have 4 KB: 2 * DEFAULT_MMAP_THRESHOLD_MAX */

enum { most_heap_record = 128, most_heaps = 1 << 16, window_words = 8192 };

/* The C library by its file: glibc's is libc.so.6, or libc-2.26.so before 2.34. */
static const char *library_of_mapping(const struct jprof_map *map)
{
	const char *base = *map->path == '/' ? strrchr(map->path, '/') + 1 : "";
	if (!strncmp(base, "libc.so.6", 9) || !strncmp(base, "libc-2.", 7))
		return "glibc";
	return !strncmp(base, "ld-musl-", 8) || !strncmp(base, "libc.musl-", 10) ? "musl" : NULL;
}

/* Whether memory that malloc's arenas may have begins at an address: sizes are of pages, and the arena lies right
 * behind the record, or in another such memory that begins likewise. Sets whether it is the
 * first of its arena, and its size. */
static bool is_heap_of_arena(struct jp_memsource *m, uint64_t at, bool *first, uint64_t *size)
{
	uint64_t words[4], mutex_and_flags;
	if (!jp_memsource_has(m, at) || !jp_memsource_read(m, at, words, sizeof words))
		return false;
	uint64_t arena = words[0], own = arena - arena % heap_step;
	*first = own == at && !words[1];
	*size = words[2];
	return arena % 8 == 0 && arena - own >= sizeof words && arena - own < most_heap_record &&
	       (*first || (own != at && words[1] % heap_step == 0 && words[1])) && words[2] >= jp_memory_page &&
	       words[2] <= heap_step && words[2] % jp_memory_page == 0 && words[3] >= words[2] &&
	       words[3] <= heap_step && jp_memsource_read(m, arena, &mutex_and_flags, sizeof mutex_and_flags) &&
	       (uint32_t)mutex_and_flags <= 2;
}

/* A window on the words of a heap. */
struct heap_window {
	struct jp_memsource *source;
	uint64_t at;
	uint64_t words[window_words];
};

/* The word of a chunk that has its size; the lowest bit: the chunk before is in use. */
static uint64_t size_word(struct heap_window *w, uint64_t chunk)
{
	uint64_t address = chunk + 8;
	if (address - w->at >= sizeof w->words) {
		w->at = address - address % jp_memory_page;
		jp_memsource_copy(w->source, w->at, w->words, sizeof w->words);
	}
	return w->words[(address - w->at) / 8];
}

/* From the first chunk on to the end; false: these are no chunks. What is behind the last one that is in use is free,
 * as is each that the next one says is not. */
static bool walk_chunks(struct heap_window *w, uint64_t first, uint64_t end, uint64_t *unused)
{
	enum { least_chunk = 32, flags = 7, before_is_used = 1 };
	uint64_t at = first, last = 0;
	*unused = 0;
	while (at < end && end - at > least_chunk) {
		uint64_t word = size_word(w, at), size = word & ~(uint64_t)flags;
		if (size < least_chunk || size % 16 || size > end - at)
			return false;
		*unused += word & before_is_used ? 0 : last;
		last = size;
		at += size;
	}
	*unused += at == end ? last : 0; /* nobody is behind the top */
	return true;
}

/* An arena is 2,200 bytes or so, and its first chunk right behind; a further heap begins with its record alone. */
static uint64_t unused_of_heap(struct heap_window *w, uint64_t at, uint64_t size, bool first)
{
	enum { least_arena = 2000, most_arena = 2600 };
	uint64_t unused, from = at + (first ? least_arena : 32), to = at + (first ? most_arena : most_heap_record);
	for (uint64_t chunk = from; chunk < to && chunk < at + size; chunk += 16)
		if (walk_chunks(w, chunk, at + size, &unused))
			return unused;
	return 0;
}

/* 0, or -1 when memory is short. */
static int count_heaps(struct jp_memsource *m, const struct jprof_map *map, struct jp_othermalloc *o)
{
	struct heap_window *w = malloc(sizeof *w);
	uint64_t at = (map->start + heap_step - 1) / heap_step * heap_step;
	if (!w)
		return -1;
	*w = (struct heap_window){ .source = m, .at = UINT64_MAX };
	for (; at < map->limit && o->arenas < most_heaps && m->left; at += heap_step) {
		bool first;
		uint64_t size;
		if (!is_heap_of_arena(m, at, &first, &size) || size > map->limit - at)
			continue;
		o->arenas += first;
		o->unused += unused_of_heap(w, at, size, first);
	}
	free(w);
	return 0;
}

int jp_othermalloc_find(struct jp_memsource *m, struct jp_othermalloc *o)
{
	*o = (struct jp_othermalloc){ 0 };
	for (size_t i = 0; i < jprof_maps_count(m->maps) && !o->name; i++)
		o->name = library_of_mapping(jprof_maps_at(m->maps, i));
	if (!o->name || *o->name != 'g')
		return 0;
	o->arenas = 1;
	for (size_t i = 0; i < jprof_maps_count(m->maps); i++)
		if (jp_map_is_heap(jprof_maps_at(m->maps, i)) && count_heaps(m, jprof_maps_at(m->maps, i), o))
			return -1;
	return 0;
}
