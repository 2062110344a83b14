#include "outside/othermalloc.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t heap_step = 64 << 20; /* HEAP_MAX_SIZE where pages have 4 KB: 2 * DEFAULT_MMAP_THRESHOLD_MAX */

static const uint64_t most_main = 64ULL << 30;

enum { most_heap_record = 128, most_heaps = 1 << 16 };

/* The C library by its file: glibc's is libc.so.6, or libc-2.26.so before 2.34. musl's is its loader, too; where that
 * is a link, libc.so. */
static const char *library_of_mapping(const struct jprof_map *map)
{
	const char *base = *map->path == '/' ? strrchr(map->path, '/') + 1 : "";
	if (!strncmp(base, "libc.so.6", 9) || !strncmp(base, "libc-2.", 7))
		return "glibc";
	bool musl = !strncmp(base, "ld-musl-", 8) || !strncmp(base, "libc.musl-", 10) || !strcmp(base, "libc.so");
	return musl ? "musl" : NULL;
}

/* An allocator that stands before the C library's, by its file. */
static const char *allocator_of_mapping(const struct jprof_map *map)
{
	static const char *const names[] = { "tcmalloc", "mimalloc", "rpmalloc", "snmalloc", "hoard", "scudo" };
	const char *base = *map->path == '/' ? strrchr(map->path, '/') + 1 : NULL;
	for (size_t i = 0; base && !strncmp(base, "lib", 3) && i < jp_count(names); i++)
		if (!strncmp(base + 3, names[i], strlen(names[i])))
			return names[i];
	return NULL;
}

static const char *first_name(const struct jprof_maps *maps, const char *(*name_of)(const struct jprof_map *map))
{
	const char *name = NULL;
	for (size_t i = 0; i < jprof_maps_count(maps) && !name; i++)
		name = name_of(jprof_maps_at(maps, i));
	return name;
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

/* An arena is 2,200 bytes or so, and its first chunk right behind; a further heap begins with its record alone. 0, or
 * -1 when memory is short. */
static int walk_heap(struct jp_othermalloc *o, struct jp_memwindow *w, uint64_t at, uint64_t size, bool first)
{
	enum { least_arena = 2000, most_arena = 2600 };
	uint64_t unused, from = at + (first ? least_arena : 32), to = at + (first ? most_arena : most_heap_record);
	int found = 0;
	for (uint64_t chunk = from; !found && chunk < to && chunk < at + size; chunk += 16)
		found = jp_chunks_walk(&o->chunks, w, chunk, at + size, &unused);
	o->unused += found > 0 ? unused : 0;
	return found < 0 ? -1 : 0;
}

/* 0, or -1 when memory is short. */
static int walk_heaps(struct jp_othermalloc *o, struct jp_memwindow *w, const struct jprof_map *map)
{
	struct jp_memsource *m = w->source;
	uint64_t at = (map->start + heap_step - 1) / heap_step * heap_step;
	for (; at < map->limit && o->arenas < most_heaps && m->left; at += heap_step) {
		bool first;
		uint64_t size;
		if (!is_heap_of_arena(m, at, &first, &size) || size > map->limit - at)
			continue;
		o->arenas += first;
		if (walk_heap(o, w, at, size, first))
			return -1;
	}
	return 0;
}

/* The main arena's chunks fill the memory that brk() gave, unless others asked for some, too. The process runs on: what
 * does not fit together is read again. 0, or -1 when memory is short. */
static int walk_main(struct jp_othermalloc *o, struct jp_memwindow *w, const struct jprof_map *map)
{
	uint64_t unused;
	int found = 0;
	for (int tries = 0; !found && tries < 3 && map->limit - map->start <= most_main; tries++) {
		jp_memwindow_open(w, w->source);
		found = jp_chunks_walk(&o->chunks, w, map->start, map->limit, &unused);
	}
	return found < 0 ? -1 : 0;
}

/* 0, or -1 when memory is short. */
static int walk_glibc(struct jp_othermalloc *o, struct jp_memwindow *w)
{
	const struct jprof_maps *maps = w->source->maps;
	o->arenas = 1;
	if (jp_chunks_open(&o->chunks))
		return -1;
	for (size_t i = 0; i < jprof_maps_count(maps); i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		if (!strcmp(map->path, "[heap]") && walk_main(o, w, map))
			return -1;
		if (jp_map_is_heap(map) && walk_heaps(o, w, map))
			return -1;
	}
	return 0;
}

/* 0, or -1 when memory is short. */
static int walk_musl(struct jp_othermalloc *o, struct jp_memwindow *w)
{
	const struct jprof_maps *maps = w->source->maps;
	uint64_t limit;
	for (size_t i = 0; i < jprof_maps_count(maps) && !o->groups.items; i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		if (library_of_mapping(map) && jp_memsource_data(w->source, i, &limit) &&
		    jp_slotgroups_find(w, map->start, limit, &o->groups))
			return -1;
	}
	o->unused = o->groups.unused;
	return 0;
}

int jp_othermalloc_find(struct jp_memsource *m, struct jp_othermalloc *o)
{
	*o = (struct jp_othermalloc){ .name = first_name(m->maps, allocator_of_mapping) };
	if (o->name)
		return 0;
	o->name = first_name(m->maps, library_of_mapping);
	struct jp_memwindow *w = o->name ? malloc(sizeof *w) : NULL;
	if (!w)
		return o->name ? -1 : 0;
	jp_memwindow_open(w, m);
	int rc = *o->name == 'g' ? walk_glibc(o, w) : walk_musl(o, w);
	free(w);
	return rc;
}

void jp_othermalloc_release(struct jp_othermalloc *o)
{
	jp_chunks_release(&o->chunks);
	jp_slotgroups_release(&o->groups);
}

bool jp_othermalloc_has_blocks(const struct jp_othermalloc *o)
{
	return o->arenas || o->groups.count;
}

bool jp_othermalloc_take(struct jp_othermalloc *o, struct jp_memsource *m, uint64_t pointer, uint64_t *size)
{
	return o->arenas ? jp_chunks_take(&o->chunks, m, pointer, size)
	                 : jp_slotgroups_take(&o->groups, m, pointer, size);
}

/* Of glibc they are chunks of the least size, or of the next where no chunk would be left of the rest. */
uint64_t jp_othermalloc_next(const struct jp_othermalloc *o, size_t *list, uint64_t *place)
{
	return o->arenas ? jp_chunks_next(&o->chunks, jp_chunk_least + 16, list, place)
	                 : jp_slotgroups_next(&o->groups, 32, list, place);
}
