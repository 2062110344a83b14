#include "outside/chunks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

enum { grain = 16, flags = 7, before_is_used = 1, is_mapped = 2, mapped_places = 1 << 17 };

static bool bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* ---- the walk ------------------------------------------------------------------------------------------------ */

/* What is behind the last chunk that is in use is free, as is each that the next one says is not. False: these are no
 * chunks. */
static bool walk_span(struct jp_chunkspan *s, struct jp_memwindow *w, uint64_t *unused)
{
	uint64_t at = s->start, last = 0;
	*unused = 0;
	while (at < s->end && s->end - at > jp_chunk_least) {
		uint64_t word = jp_memwindow_word(w, at + 8), size = word & ~(uint64_t)flags;
		if (size < jp_chunk_least || size % grain || size > s->end - at)
			return false;
		uint64_t place = (at - s->start) / grain, before = place - last / grain;
		s->begin[place / 64] |= 1ULL << place % 64;
		if (word & before_is_used && last)
			s->used[before / 64] |= 1ULL << before % 64;
		*unused += word & before_is_used ? 0 : last;
		last = size;
		at += size;
	}
	*unused += at == s->end ? last : 0; /* nobody is behind the top */
	return true;
}

static void release_span(struct jp_chunkspan *s)
{
	free(s->begin);
	free(s->used);
}

int jp_chunks_open(struct jp_chunks *c)
{
	*c = (struct jp_chunks){ .mapped = calloc(mapped_places, sizeof *c->mapped) };
	return c->mapped ? 0 : -1;
}

int jp_chunks_walk(struct jp_chunks *c, struct jp_memwindow *w, uint64_t first, uint64_t end, uint64_t *unused)
{
	size_t words = (size_t)((end - first) / grain / 64 + 1);
	if (jp_array_push(c->spans, c->count, c->cap))
		return -1;
	struct jp_chunkspan *s = &c->spans[c->count];
	*s = (struct jp_chunkspan){ .start = first, .end = end };
	s->begin = calloc(words, sizeof *s->begin);
	s->used = calloc(words, sizeof *s->used);
	int found = !s->begin || !s->used ? -1 : walk_span(s, w, unused);
	if (found == 1)
		c->count++;
	else
		release_span(s);
	return found;
}

void jp_chunks_release(struct jp_chunks *c)
{
	for (size_t i = 0; i < c->count; i++)
		release_span(&c->spans[i]);
	free(c->spans);
	free(c->mapped);
	*c = (struct jp_chunks){ 0 };
}

/* ---- single ones ----------------------------------------------------------------------------------------------- */

/* Bytes of the chunk that begins at a place. */
static uint64_t size_at(const struct jp_chunkspan *s, uint64_t place)
{
	uint64_t end = (s->end - s->start) / grain, next = place + 1;
	while (next < end && !bit(s->begin, next))
		next += s->begin[next / 64] >> next % 64 ? 1 : 64 - next % 64;
	return ((next < end ? next : end) - place) * grain;
}

/* One with pages of its own: its head says so, and its size is of pages. */
static bool is_mapped_chunk(struct jp_memsource *m, uint64_t chunk, uint64_t *size)
{
	uint64_t words[2];
	const struct jprof_map *map = jp_memsource_heap(m, chunk);
	if (chunk % jp_memory_page || !map || !jp_memsource_read(m, chunk, words, sizeof words) || words[0] ||
	    (words[1] & flags) != is_mapped)
		return false;
	uint64_t bytes = words[1] & ~(uint64_t)flags;
	*size = bytes - jp_chunk_head;
	return bytes >= jp_memory_page && bytes % jp_memory_page == 0 && bytes <= map->limit - chunk;
}

/* Whether it was not noted before; false, too, where there are too many. */
static bool note_mapped(struct jp_chunks *c, uint64_t chunk)
{
	size_t i = (size_t)(chunk / jp_memory_page * 0x9e3779b97f4a7c15U >> 32) % mapped_places;
	while (c->mapped[i] && c->mapped[i] != chunk)
		i = (i + 1) % mapped_places;
	if (c->mapped[i] || c->mapped_count == mapped_places / 2)
		return false;
	c->mapped[i] = chunk;
	c->mapped_count++;
	return true;
}

bool jp_chunks_take(struct jp_chunks *c, struct jp_memsource *m, uint64_t pointer, uint64_t *size)
{
	uint64_t chunk = pointer - jp_chunk_head;
	if (pointer % grain || pointer < jp_memory_page)
		return false;
	size_t below = jp_count_below(c->spans, c->count, sizeof *c->spans, chunk + 1);
	struct jp_chunkspan *s = below ? &c->spans[below - 1] : NULL;
	if (!s || chunk >= s->end)
		return is_mapped_chunk(m, chunk, size) && note_mapped(c, chunk);
	uint64_t place = (chunk - s->start) / grain;
	if (!bit(s->used, place))
		return false;
	s->used[place / 64] &= ~(1ULL << place % 64);
	*size = size_at(s, place) - jp_chunk_head / 2; /* the last word is the next one's */
	return true;
}

uint64_t jp_chunks_next(const struct jp_chunks *c, uint64_t size, size_t *span, uint64_t *place)
{
	for (; *span < c->count; ++*span, *place = 0) {
		const struct jp_chunkspan *s = &c->spans[*span];
		uint64_t end = (s->end - s->start) / grain;
		while (*place < end) {
			uint64_t i = *place;
			*place += s->used[i / 64] >> i % 64 ? 1 : 64 - i % 64;
			if (bit(s->used, i) && size_at(s, i) <= size)
				return s->start + i * grain + jp_chunk_head;
		}
	}
	return 0;
}
