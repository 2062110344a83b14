#include "outside/chunkowners.h"

#include <stdlib.h>
#include <string.h>

enum { most_depth = 3, piece_words = 8192, slot_words = 2048 / 8 + 4 };

static const uint64_t has_pages_of_its_own = 64 << 10; /* such a chunk may have parts that were never touched */

struct chunk_search {
	struct jp_referrertable table;
	struct jp_othermalloc *other;
	unsigned char *page;
	uint64_t *pieces[most_depth]; /* what was read last of a chunk, at each depth */
};

static void take_words(struct chunk_search *s, const uint64_t *words, size_t count, unsigned owner, int depth);

static void take_inside(struct chunk_search *s, uint64_t at, uint64_t size, unsigned owner, int depth)
{
	for (uint64_t done = 0; done + 8 <= size; done += piece_words * 8) {
		uint64_t n = size - done < piece_words * 8 ? size - done : piece_words * 8;
		jp_memsource_copy(s->table.source, at + done, s->pieces[depth], (size_t)n);
		take_words(s, s->pieces[depth], (size_t)(n / 8), owner, depth + 1);
	}
}

/* Gives each chunk that a word is the address of to an owner, unless it has one. */
static void take_words(struct chunk_search *s, const uint64_t *words, size_t count, unsigned owner, int depth)
{
	struct jp_memsource *m = s->table.source;
	for (size_t i = 0; i < count && m->left; i++) {
		uint64_t size;
		if (!jp_othermalloc_take(s->other, m, words[i], &size))
			continue;
		struct jp_referrer *to = &s->table.owners[owner];
		to->blocks++;
		to->bytes += size - (size < has_pages_of_its_own ? 0 : jp_memsource_untouched(m, words[i], size));
		if (depth < most_depth)
			take_inside(s, words[i], size, owner, depth);
	}
}

/* Of those objects whose memory leads on, or of the others. */
static void take_page(struct chunk_search *s, const struct jp_rubypage *p, bool leads_on)
{
	jp_memsource_copy(s->table.source, p->at, s->page, p->size);
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t words[slot_words];
		memcpy(words, s->page + (p->first - p->at) + (size_t)i * p->slot, p->slot);
		if (jp_rubyowner_leads_on(words, p->slot) != leads_on)
			continue;
		unsigned owner = jp_referrertable_object(&s->table, words);
		if (owner)
			take_words(s, words + 1, p->slot / 8 - 1, owner, leads_on ? 0 : most_depth);
	}
}

int jp_chunkowners_find(struct jp_memsource *m, struct jp_othermalloc *other, const struct jp_rubypages *pages,
                        const struct jp_rubynames *names, const struct jp_rubycensus *census, struct jp_referrers *r)
{
	struct chunk_search s = { .table = { .source = m, .pages = pages, .names = names, .census = census },
		                  .other = other };
	*r = (struct jp_referrers){ 0 };
	s.page = malloc(jp_ruby_most_page);
	uint64_t *room = malloc(most_depth * piece_words * sizeof *room);
	int failed = jp_referrertable_open(&s.table) || !s.page || !room ? -1 : 0;
	for (int i = 0; i < most_depth && !failed; i++)
		s.pieces[i] = room + (size_t)i * piece_words;
	/* What leads on may pass by words that nobody uses any more: so it comes last. */
	for (int leads_on = 0; leads_on <= 1; leads_on++)
		for (size_t i = 0; i < pages->count && !failed; i++)
			take_page(&s, &pages->items[i], leads_on);
	if (!failed) {
		jp_referrertable_sort(&s.table);
		*r = (struct jp_referrers){ .items = s.table.owners, .count = s.table.count, .complete = m->left > 0 };
		s.table.owners = NULL;
	}
	free(s.page);
	free(room);
	jp_referrertable_release(&s.table);
	return failed;
}
