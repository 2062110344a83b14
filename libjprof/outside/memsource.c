#include "outside/memsource.h"

#include <stdlib.h>
#include <string.h>

#include "input/maps.h"

void jp_memsource_close(struct jp_memsource *source)
{
	if (!source)
		return;
	jprof_maps_free(source->maps);
	free(source->stacks);
	free(source->registers);
	source->close(source);
}

static bool spend(struct jp_memsource *m, uint64_t bytes)
{
	bool good = bytes <= m->left;
	m->left -= good ? bytes : m->left;
	return good;
}

const struct jp_memory_pages *jp_memsource_unit(struct jp_memsource *m, uint64_t number)
{
	enum { cost = jp_memory_unit / jp_memory_page * sizeof(uint64_t) };
	struct jp_memory_pages *unit = &m->seen[number % jp_memory_slots];
	if (unit->known && unit->number == number)
		return unit;
	*unit = (struct jp_memory_pages){ .number = number, .known = true };
	if (spend(m, cost))
		m->look(m, unit);
	return unit;
}

bool jp_memsource_has(struct jp_memsource *m, uint64_t address)
{
	uint64_t page = address % jp_memory_unit / jp_memory_page;
	return jp_memsource_unit(m, address / jp_memory_unit)->there[page / 64] >> page % 64 & 1;
}

/* The end of the piece from `at` on whose pages are all in memory, or all not. */
static uint64_t end_of_run(struct jp_memsource *m, uint64_t at, uint64_t limit, bool *there)
{
	uint64_t next = at / jp_memory_page * jp_memory_page + jp_memory_page;
	*there = jp_memsource_has(m, at);
	while (next < limit && next - at < jp_memory_piece && jp_memsource_has(m, next) == *there)
		next += jp_memory_page;
	return next < limit ? next : limit;
}

/* What cannot be read as a whole is read page by page: the guard of a stack may lie in the stack's own mapping. */
static void copy_run(struct jp_memsource *m, uint64_t at, char *to, size_t size)
{
	if (!spend(m, size))
		return;
	for (size_t done = 0; done < size;) {
		size_t got = m->read(m, at + done, to + done, size - done);
		size_t page = jp_memory_page - (at + done + got) % jp_memory_page;
		done += got;
		if (done < size)
			done += page < size - done ? page : size - done;
	}
}

void jp_memsource_copy(struct jp_memsource *m, uint64_t address, void *to, size_t size)
{
	memset(to, 0, size);
	if (size > UINT64_MAX - address)
		return;
	for (uint64_t at = address, end; at < address + size; at = end) {
		bool there;
		end = end_of_run(m, at, address + size, &there);
		if (there)
			copy_run(m, at, (char *)to + (at - address), (size_t)(end - at));
	}
}

bool jp_memsource_read(struct jp_memsource *m, uint64_t address, void *to, size_t size)
{
	if (!size || size > UINT64_MAX - address)
		return false;
	for (uint64_t at = address; at < address + size; at = at / jp_memory_page * jp_memory_page + jp_memory_page)
		if (!jp_memsource_has(m, at)) {
			m->absent++;
			return false;
		}
	return spend(m, size) && m->read(m, address, to, size) == size;
}

uint64_t jp_memsource_word(struct jp_memsource *m, uint64_t address)
{
	uint64_t word;
	return jp_memsource_read(m, address, &word, sizeof word) ? word : 0;
}

uint64_t jp_memsource_untouched(struct jp_memsource *m, uint64_t address, uint64_t size)
{
	const uint64_t pages = jp_memory_unit / jp_memory_page, first = address / jp_memory_page;
	uint64_t bytes = 0;
	for (uint64_t page = first; size && page <= (address + size - 1) / jp_memory_page; page++) {
		if (!m->left && page % pages == 0) /* a size that nobody has ends, too */
			return bytes + (address + size - page * jp_memory_page);
		const struct jp_memory_pages *unit = jp_memsource_unit(m, page / pages);
		bool touched = (unit->there[page % pages / 64] | unit->swapped[page % pages / 64]) >> page % 64 & 1;
		uint64_t from = page * jp_memory_page, to = from + jp_memory_page;
		from = from < address ? address : from;
		to = to > address + size ? address + size : to;
		bytes += touched ? 0 : to - from;
	}
	return bytes;
}

void jp_memsource_forget(struct jp_memsource *m)
{
	for (size_t i = 0; i < jp_memory_slots; i++)
		m->seen[i].known = false;
}

bool jp_map_is_heap(const struct jprof_map *map)
{
	bool file = *map->path && strcmp(map->path, "[heap]") != 0 && strncmp(map->path, "[anon", 5) != 0;
	return map->readable && map->writable && !file && map->limit > map->start;
}

const struct jprof_map *jp_memsource_heap(const struct jp_memsource *m, uint64_t address)
{
	const struct jprof_map *map = jp_maps_find(m->maps, address);
	return map && jp_map_is_heap(map) ? map : NULL;
}

bool jp_memsource_writable(const struct jp_memsource *m, uint64_t address)
{
	const struct jprof_map *map = jp_maps_find(m->maps, address);
	return map && map->writable;
}

bool jp_memsource_data(const struct jp_memsource *m, size_t i, uint64_t *limit)
{
	static const uint64_t most = 64 << 20;
	const struct jprof_map *data = jprof_maps_at(m->maps, i), *next;
	if (!data->writable || *data->path != '/' || jp_map_is_heap(data))
		return false;
	*limit = data->limit;
	while ((next = jprof_maps_at(m->maps, ++i)) && next->start == *limit && next->writable &&
	       (jp_map_is_heap(next) || !strcmp(next->path, data->path)))
		*limit = next->limit;
	*limit = *limit - data->start > most ? data->start + most : *limit;
	return true;
}
