#include "outside/rubypages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum { page_step = 16384, record_words = 24, most_ruby_pages = 1 << 22 };

/* The slots of a page, by two numbers of its record and the first slot's address: they fill it but for one slot. */
static bool slots_fill(struct jp_rubypage *p, unsigned slot, unsigned count, uint64_t first)
{
	static const uint32_t sizes[] = { 16384, 65536 };
	uint64_t head = first - p->at, end = head + (uint64_t)slot * count;
	if (slot < jp_ruby_least_slot || slot % 8 || slot > 2048 || !count || head < 8 || head > slot + 16)
		return false;
	for (size_t i = 0; i < jp_count(sizes); i++)
		if (end <= sizes[i] && sizes[i] - end < slot + jp_ruby_least_slot && p->at % sizes[i] == 0) {
			*p = (struct jp_rubypage){ p->at, first, slot, count, sizes[i] };
			return true;
		}
	return false;
}

/* The slot's size is one of the first four numbers of 16 bits, the count stands beside it. */
static bool is_rubypage(struct jp_memsource *m, struct jp_rubypage *p)
{
	uint64_t words[record_words];
	uint16_t halves[8];
	uint64_t record = jp_memsource_word(m, p->at);
	if (record % 8 || !jp_memsource_writable(m, record) || !jp_memsource_read(m, record, words, sizeof words))
		return false;
	memcpy(halves, words, sizeof halves);
	for (size_t i = 1; i < record_words; i++)
		for (size_t k = 0; k < 4 && words[i] - p->at < jp_ruby_most_page && words[i] % 8 == 0; k++)
			if (slots_fill(p, halves[k], halves[k + 1], words[i]))
				return true;
	return false;
}

int jp_rubypages_find(struct jp_memsource *m, struct jp_rubypages *pages)
{
	*pages = (struct jp_rubypages){ 0 };
	for (size_t i = 0; i < jprof_maps_count(m->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(m->maps, i);
		uint64_t at = (map->start + page_step - 1) / page_step * page_step;
		if (!jp_map_is_heap(map) || map->limit > INT64_MAX)
			continue;
		while (at < map->limit && map->limit - at >= page_step && pages->count < most_ruby_pages && m->left) {
			struct jp_rubypage page = { .at = at };
			bool found = jp_memsource_has(m, at) && is_rubypage(m, &page) && map->limit - at >= page.size;
			at += found ? page.size : page_step;
			if (found && jp_array_push(pages->items, pages->count, pages->cap))
				return -1;
			if (found)
				pages->items[pages->count++] = page;
		}
	}
	return 0;
}

void jp_rubypages_release(struct jp_rubypages *pages)
{
	free(pages->items);
	*pages = (struct jp_rubypages){ 0 };
}

const struct jp_rubypage *jp_rubypages_at(const struct jp_rubypages *pages, uint64_t address)
{
	size_t below = jp_count_below(pages->items, pages->count, sizeof *pages->items, address + 1);
	const struct jp_rubypage *page = below ? &pages->items[below - 1] : NULL;
	return page && address - page->at < page->size ? page : NULL;
}

unsigned jp_rubypages_type(struct jp_memsource *m, const struct jp_rubypages *pages, uint64_t address)
{
	const struct jp_rubypage *page = jp_rubypages_at(pages, address);
	uint64_t offset = page ? address - page->first : 0;
	if (!page || address < page->first || offset % page->slot || offset / page->slot >= page->count)
		return 0;
	return jp_memsource_word(m, address) & 31;
}
