#include "outside/v8heap.h"

static const uint64_t chunk_step = 256 << 10; /* kRegularPageSize */

enum { words_of_chunk = 10, most_head = 16 << 10, least_chunks = 4 };

/* Whether words are the record of the chunk at an address: its size, then an end within its last page, and a begin
 * behind its head with the heap before it. */
static bool is_record(const uint64_t words[words_of_chunk], uint64_t at, uint64_t most, uint64_t *size)
{
	bool sized = false, ended = false, begun = false;
	*size = 0;
	for (int i = 0; i < 3 && !sized; i++) {
		sized = words[i] >= jp_memory_page && words[i] <= most && words[i] % jp_memory_page == 0;
		*size = sized ? words[i] : 0;
	}
	for (int i = 1; sized && i < words_of_chunk; i++) {
		ended = ended || (words[i] <= at + *size && words[i] > at + *size - jp_memory_page);
		begun = begun || (words[i] > at && words[i] < at + most_head && words[i] - at < *size && words[i - 1]);
	}
	return ended && begun;
}

/* The size of the chunk at an address; 0: there is none. */
static uint64_t chunk_at(struct jp_memsource *m, uint64_t at, uint64_t most)
{
	uint64_t words[words_of_chunk], size;
	if (!jp_memsource_has(m, at) || !jp_memsource_read(m, at, words, sizeof words))
		return 0;
	if (is_record(words, at, most, &size))
		return size;
	uint64_t record = words[1];
	bool elsewhere = record && record % 8 == 0 && jp_memsource_read(m, record, words, sizeof words);
	return elsewhere && is_record(words, at, most, &size) ? size : 0;
}

static void add_chunks_of(struct jp_memsource *m, const struct jprof_map *map, struct jp_v8heap *v8)
{
	uint64_t at = (map->start + chunk_step - 1) / chunk_step * chunk_step;
	while (at < map->limit && at >= map->start && m->left) {
		uint64_t size = chunk_at(m, at, map->limit - at), step = size ? size : chunk_step;
		if (size) {
			v8->chunks++;
			v8->space += size;
			v8->bytes += size - jp_memsource_untouched(m, at, size);
		}
		step = (step + chunk_step - 1) / chunk_step * chunk_step;
		if (step >= map->limit - at)
			return;
		at += step;
	}
}

struct jp_v8heap jp_v8heap_find(struct jp_memsource *m)
{
	struct jp_v8heap v8 = { 0 };
	for (size_t i = 0; i < jprof_maps_count(m->maps); i++)
		if (jp_map_is_heap(jprof_maps_at(m->maps, i)))
			add_chunks_of(m, jprof_maps_at(m->maps, i), &v8);
	return v8.chunks < least_chunks ? (struct jp_v8heap){ 0 } : v8;
}

void jp_v8heap_write(const struct jp_v8heap *v8, struct jp_jsonout *j)
{
	jp_jsonout_put(j, "v8:{chunks:%ju bytes:%ju space:%ju}", v8->chunks, v8->bytes, v8->space);
}
