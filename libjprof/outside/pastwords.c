#include "outside/pastwords.h"

static void note_past(struct jp_pastwords *p, uint64_t from, uint64_t to)
{
	if (p->count < jp_most_past)
		p->ranges[p->count++] = (struct jp_pastrange){ from, to };
}

/* A thread or fiber has, one behind the other, where its stack of values begins, how many words that is, and its
 * innermost frame (rb_execution_context_t). Frames grow down from the end; the second word of a frame is the end of the
 * values below. What is between these two is of the past. */
void jp_pastwords_of_stacks(struct jp_pastwords *p, struct jp_memsource *m, const uint64_t *words, size_t count)
{
	enum { least_stack = 1 << 10, most_stack = 1 << 21 };
	for (size_t i = 0; i + 3 <= count; i++) {
		uint64_t begin = words[i], size = words[i + 1], frame = words[i + 2];
		if (size < least_stack || size > most_stack || begin % 8 || frame % 8 || begin < jp_memory_page ||
		    frame - begin >= size * 8)
			continue;
		uint64_t end = jp_memsource_word(m, frame + 8);
		if (end % 8 || end - begin >= frame - begin || !jp_memsource_heap(m, begin))
			continue;
		note_past(p, end, frame);
	}
}

/* To Ruby 3.2 young Arrays have their elements in memory of this size, which libruby has the address of, mapped past
 * malloc: each refers to its own there. */
void jp_pastwords_of_transient(struct jp_pastwords *p, struct jp_memsource *m, const struct jp_jeextents *extents,
                               const struct jp_rubypages *pages, const uint64_t *words, size_t count)
{
	enum { transient_bytes = 32 << 20, transient_block = 32 << 10 };
	for (size_t i = 0; i < count; i++) {
		const struct jprof_map *map = NULL;
		if (words[i] && words[i] % transient_block == 0)
			map = jp_memsource_heap(m, words[i]);
		if (!map || map->limit - words[i] < transient_bytes || jp_rubypages_at(pages, words[i]) ||
		    jp_jeextents_find(extents, words[i]))
			continue;
		note_past(p, words[i], words[i] + transient_bytes);
	}
}

/* What is of the past from `from` on: the first such range before `to`, which may begin before `from`; { to, to }:
 * there is none. */
struct jp_pastrange jp_pastwords_next(const struct jp_pastwords *p, uint64_t from, uint64_t to)
{
	struct jp_pastrange next = { to, to };
	for (size_t i = 0; i < p->count; i++)
		if (p->ranges[i].to > from && p->ranges[i].from < next.from)
			next = p->ranges[i];
	return next;
}
