#include "outside/referrers.h"

#include <stdlib.h>
#include <string.h>

#include "outside/jeblocks.h"
#include "outside/rootwords.h"

enum {
	most_referrer_rows = 80, /* that are written; the rest is added up by kind */
	heap_pages = 1,          /* the owner of pages of Ruby's GC heap that malloc gave */
};

/* Who may own what: by number. */
struct owner_search {
	struct jp_memsource *source;
	struct jp_jeblocks blocks;
	struct jp_referrertable table;
	struct jp_lostblocks *lost;
	unsigned char *page;
	enum jp_referrer_kind root_kind; /* whose words are looked at */
};

/* ---- where pointers are ---------------------------------------------------------------------------------------- */

static void look_into_rubypage(struct owner_search *s, const struct jp_rubypage *p)
{
	jp_jeblocks_claim(&s->blocks, p->at, heap_pages);
	jp_memsource_copy(s->source, p->at, s->page, p->size);
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t words[2048 / 8 + 4];
		size_t at = (size_t)(p->first - p->at) + (size_t)i * p->slot;
		memcpy(words, s->page + at, p->slot);
		unsigned owner = jp_referrertable_object(&s->table, words);
		if (owner && jp_rubyowner_leads_on(words, p->slot))
			jp_jeblocks_give(&s->blocks, words + 1, p->slot / 8 - 1, owner);
		else if (owner)
			for (uint32_t w = 1; w < p->slot / 8; w++)
				jp_jeblocks_claim(&s->blocks, words[w], owner);
	}
}

static void take_root_words(void *context, const char *file, uint64_t at, const uint64_t *words, size_t count)
{
	struct owner_search *s = context;
	(void)at;
	jp_jeblocks_give(&s->blocks, words, count, jp_referrertable_named(&s->table, s->root_kind, file));
}

/* Kind by kind, for the first that points to a block has it. */
static void look_into_mappings(struct owner_search *s, enum jp_rootwords_kind kind)
{
	static const enum jp_referrer_kind kinds[] = { [JP_ROOTWORDS_FILE] = JP_REFERRER_FILE,
		                                       [JP_ROOTWORDS_STACK] = JP_REFERRER_STACK,
		                                       [JP_ROOTWORDS_OTHER] = JP_REFERRER_OTHER };
	const struct jp_rootwords roots = { .source = s->source,
		                            .extents = s->blocks.extents,
		                            .pages = s->table.pages,
		                            .room = s->page,
		                            .take = take_root_words,
		                            .context = s };
	s->root_kind = kinds[kind];
	size_t mappings = jp_rootwords_walk(&roots, kind);
	if (s->lost)
		*(kind == JP_ROOTWORDS_STACK ? &s->lost->stacks : &s->lost->mappings) += mappings;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* 0, or -1 when memory is short. */
static int add_blocks(struct owner_search *s, const struct jp_jeheap *heap)
{
	const struct jp_jeextents *x = s->blocks.extents;
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		unsigned places = jp_jeextent_places(e);
		uint64_t size = places ? jp_jeblock_bytes(s->source, e, heap->padded) : 0;
		for (unsigned place = 0; place < places; place++) {
			unsigned owner = jp_jeblocks_owner(&s->blocks, i, place);
			if (!jp_jeextent_lives(e, place))
				continue;
			s->table.owners[owner].bytes += size;
			s->table.owners[owner].blocks++;
			if (!owner && s->lost && jp_lostblocks_add(s->lost, s->source, e, place))
				return -1;
		}
	}
	return 0;
}

/* A stack has words that nobody uses any more, and a list of all objects may pass by one of them. So a block counts for
 * stacks, and what was mapped past malloc, where neither Ruby's objects nor data of files lead to it in however many
 * steps. 0, or -1 when memory is short. */
static int look_everywhere(struct owner_search *s)
{
	for (size_t i = 0; i < s->table.pages->count; i++)
		look_into_rubypage(s, &s->table.pages->items[i]);
	look_into_mappings(s, JP_ROOTWORDS_FILE);
	if (jp_jeblocks_follow(&s->blocks))
		return -1;
	jp_jeblocks_give(&s->blocks, s->source->registers, s->source->register_count,
	                 jp_referrertable_named(&s->table, JP_REFERRER_STACK, ""));
	look_into_mappings(s, JP_ROOTWORDS_STACK);
	look_into_mappings(s, JP_ROOTWORDS_OTHER);
	return jp_jeblocks_follow(&s->blocks);
}

static int search_owners(struct owner_search *s, const struct jp_jeextents *extents, const struct jp_jeheap *heap,
                         struct jp_referrers *r)
{
	if (jp_jeblocks_open(s->source, extents, &s->blocks))
		return -1;
	if (!s->blocks.count)
		return 0;
	(void)jp_referrertable_named(&s->table, JP_REFERRER_RUBY, "pages of the GC heap");
	if (look_everywhere(s) || add_blocks(s, heap))
		return -1;
	s->table.owners[heap_pages].blocks = s->table.owners[heap_pages].bytes = 0; /* they count as Ruby's GC heap */
	r->count = s->table.count;
	r->complete = s->source->left > 0;
	if (s->lost)
		s->lost->known = r->complete && !heap->cut;
	jp_referrertable_sort(&s->table);
	return 0;
}

int jp_referrers_find(struct jp_memsource *m, const struct jp_jeextents *extents, const struct jp_jeheap *heap,
                      const struct jp_rubypages *pages, const struct jp_rubynames *names,
                      const struct jp_rubycensus *census, struct jp_lostblocks *lost, struct jp_referrers *r)
{
	struct owner_search s = { .source = m,
		                  .table = { .source = m, .pages = pages, .names = names, .census = census },
		                  .lost = lost };
	*r = (struct jp_referrers){ 0 };
	s.page = malloc(jp_ruby_most_page);
	int failed = jp_referrertable_open(&s.table) || !s.page || search_owners(&s, extents, heap, r) ? -1 : 0;
	jp_jeblocks_release(&s.blocks);
	free(s.page);
	if (!failed && r->count) {
		r->items = s.table.owners;
		s.table.owners = NULL;
	}
	jp_referrertable_release(&s.table);
	return failed;
}

void jp_referrers_release(struct jp_referrers *r)
{
	free(r->items);
	*r = (struct jp_referrers){ 0 };
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_referrer(struct jp_jsonout *j, const struct jp_referrer *r)
{
	static const char *const keys[] = {
		[JP_REFERRER_NONE] = "none", [JP_REFERRER_RUBY] = "ruby",   [JP_REFERRER_CODE] = "code",
		[JP_REFERRER_FILE] = "file", [JP_REFERRER_STACK] = "stack", [JP_REFERRER_OTHER] = "other",
	};
	if (!r->blocks)
		return;
	jp_jsonout_put(j, "{kind:%s name:%s bytes:%ju blocks:%ju", keys[r->kind], r->name, r->bytes, r->blocks);
	jp_jsonout_put(j, r->own ? "own:%i}" : "}", true);
}

void jp_referrers_write(const struct jp_referrers *r, struct jp_jsonout *j)
{
	struct jp_referrer rest[JP_REFERRER_OTHER + 1];
	memset(rest, 0, sizeof rest);
	jp_jsonout_put(j, "referrers:{\ncomplete:%i rows:[\n", r->complete);
	for (size_t i = 0; i < r->count; i++) {
		const struct jp_referrer *one = &r->items[i];
		if (i < most_referrer_rows)
			put_referrer(j, one);
		rest[one->kind].kind = one->kind;
		rest[one->kind].bytes += i < most_referrer_rows ? 0 : one->bytes;
		rest[one->kind].blocks += i < most_referrer_rows ? 0 : one->blocks;
	}
	for (size_t i = 0; i < jp_count(rest); i++)
		put_referrer(j, &rest[i]);
	jp_jsonout_put(j, "]}");
}
