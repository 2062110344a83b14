#include "outside/rootwords.h"

#include <string.h>

/* Memory that is neither malloc's nor Ruby's. */
static bool is_beside_heaps(const struct jp_rootwords *r, uint64_t page)
{
	return jp_memsource_has(r->source, page) && !jp_jeextents_find(r->extents, page) &&
	       !jp_jeextents_own(r->extents, page / jp_memory_unit) && !jp_rubypages_at(r->pages, page);
}

static void look_into_mapping(const struct jp_rootwords *r, const struct jprof_map *map, uint64_t from,
                              const char *file)
{
	enum { most_pages = jp_ruby_most_page / jp_memory_page };
	for (uint64_t at = from; at < map->limit && r->source->left;) {
		size_t pages = 0;
		while (pages < most_pages && at + pages * jp_memory_page < map->limit &&
		       is_beside_heaps(r, at + pages * jp_memory_page))
			pages++;
		if (pages) {
			jp_memsource_copy(r->source, at, r->room, pages * jp_memory_page);
			r->take(r->context, file, at, (const uint64_t *)(const void *)r->room,
			        pages * jp_memory_page / 8);
		}
		at += (pages ? pages : 1) * jp_memory_page;
	}
}

/* A thread's stack lies behind its guard: bundle/member_proc.c. */
static bool is_stack_of_thread(const struct jprof_map *map, const struct jprof_map *before)
{
	static const uint64_t most_guard = 1 << 20, most_stack = (8 << 20) + (1 << 16);
	bool guarded = before && before->limit == map->start && !before->readable && !*before->path &&
	               before->limit - before->start <= most_guard;
	return !strncmp(map->path, "[stack", 6) || (!*map->path && guarded && map->limit - map->start <= most_stack);
}

/* Where a stack begins that is in use: below the lowest pointer into it, and what a function may have below that, there
 * is only the past. */
static uint64_t bottom_of_stack(const struct jp_memsource *m, const struct jprof_map *map)
{
	enum { below_pointer = 128 };
	uint64_t low = map->limit;
	for (size_t i = 0; i < m->stack_count; i++)
		if (m->stacks[i] >= map->start && m->stacks[i] < low)
			low = m->stacks[i];
	if (low == map->limit || low - map->start < below_pointer)
		return map->start;
	return (low - below_pointer) / jp_memory_page * jp_memory_page;
}

/* Whose pointers a mapping has: the anonymous memory right behind a file's data is its .bss. *file: of which file,
 * from the mapping before on. */
static enum jp_rootwords_kind kind_of_mapping(const struct jprof_map *map, const struct jprof_map *before,
                                              const char **file)
{
	bool of_file = *map->path == '/', behind = before && before->limit == map->start;
	const char *last = *file;
	*file = "";
	if (!map->readable || !map->writable)
		return JP_ROOTWORDS_NONE;
	if (of_file &&
	    !strstr(map->path, "jemalloc")) { /* behind its data lie those of threads, with pointers of the past */
		*file = strrchr(map->path, '/') + 1;
		return JP_ROOTWORDS_FILE;
	}
	if (*last && behind && !*map->path) {
		*file = last;
		return JP_ROOTWORDS_FILE;
	}
	if (is_stack_of_thread(map, before))
		return JP_ROOTWORDS_STACK;
	return of_file || jp_map_is_heap(map) ? JP_ROOTWORDS_OTHER : JP_ROOTWORDS_NONE;
}

size_t jp_rootwords_walk(const struct jp_rootwords *r, enum jp_rootwords_kind kind)
{
	const struct jprof_maps *maps = r->source->maps;
	const char *file = "";
	size_t walked = 0;
	for (size_t i = 0; i < jprof_maps_count(maps); i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i), *before = i ? jprof_maps_at(maps, i - 1) : NULL;
		if (kind_of_mapping(map, before, &file) != kind)
			continue;
		bool stack = kind == JP_ROOTWORDS_STACK;
		look_into_mapping(r, map, stack ? bottom_of_stack(r->source, map) : map->start, file);
		walked++;
	}
	return walked;
}
