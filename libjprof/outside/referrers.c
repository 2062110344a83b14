#include "outside/referrers.h"

#include <stdlib.h>
#include <string.h>

#include "outside/jeblocks.h"

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
		if (owner)
			jp_jeblocks_give(&s->blocks, words + 1, p->slot / 8 - 1, owner);
	}
}

/* Memory that is neither malloc's nor Ruby's. */
static bool is_beside_heaps(struct owner_search *s, uint64_t page)
{
	return jp_memsource_has(s->source, page) && !jp_jeextents_find(s->blocks.extents, page) &&
	       !jp_jeextents_own(s->blocks.extents, page / jp_memory_unit) && !jp_rubypages_at(s->table.pages, page);
}

static void look_into_mapping(struct owner_search *s, const struct jprof_map *map, uint64_t from, unsigned owner)
{
	enum { most_pages = jp_ruby_most_page / jp_memory_page };
	for (uint64_t at = from; at < map->limit && s->source->left;) {
		size_t pages = 0;
		while (pages < most_pages && at + pages * jp_memory_page < map->limit &&
		       is_beside_heaps(s, at + pages * jp_memory_page))
			pages++;
		if (pages) {
			jp_memsource_copy(s->source, at, s->page, pages * jp_memory_page);
			jp_jeblocks_give(&s->blocks, (const uint64_t *)(const void *)s->page,
			                 pages * jp_memory_page / 8, owner);
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

/* Whose pointers a mapping has: the anonymous memory right behind a file's data is its .bss. 0: it is not looked at. */
static unsigned owner_of_mapping(struct owner_search *s, const struct jprof_map *map, const struct jprof_map *before,
                                 unsigned *file)
{
	bool of_file = *map->path == '/', behind = before && before->limit == map->start;
	if (!map->readable || !map->writable)
		return *file = 0;
	if (of_file &&
	    !strstr(map->path, "jemalloc")) /* behind its data lie those of threads, with pointers of the past */
		return *file = jp_referrertable_named(&s->table, JP_REFERRER_FILE, strrchr(map->path, '/') + 1);
	if (*file && behind && !*map->path)
		return *file;
	*file = 0;
	if (is_stack_of_thread(map, before))
		return jp_referrertable_named(&s->table, JP_REFERRER_STACK, "");
	return of_file || jp_map_is_heap(map) ? jp_referrertable_named(&s->table, JP_REFERRER_OTHER, "") : 0;
}

/* Kind by kind, for the first that points to a block has it. */
static void look_into_mappings(struct owner_search *s, enum jp_referrer_kind kind)
{
	const struct jprof_maps *maps = s->source->maps;
	unsigned file = 0;
	for (size_t i = 0; i < jprof_maps_count(maps); i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i), *before = i ? jprof_maps_at(maps, i - 1) : NULL;
		unsigned owner = owner_of_mapping(s, map, before, &file);
		if (!owner || s->table.owners[owner].kind != kind)
			continue;
		bool stack = kind == JP_REFERRER_STACK;
		look_into_mapping(s, map, stack ? bottom_of_stack(s->source, map) : map->start, owner);
		if (s->lost)
			*(stack ? &s->lost->stacks : &s->lost->mappings) += 1;
	}
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

static void look_everywhere(struct owner_search *s)
{
	for (size_t i = 0; i < s->table.pages->count; i++)
		look_into_rubypage(s, &s->table.pages->items[i]);
	look_into_mappings(s, JP_REFERRER_FILE);
	jp_jeblocks_give(&s->blocks, s->source->registers, s->source->register_count,
	                 jp_referrertable_named(&s->table, JP_REFERRER_STACK, ""));
	look_into_mappings(s, JP_REFERRER_STACK);
	look_into_mappings(s, JP_REFERRER_OTHER);
}

static int search_owners(struct owner_search *s, const struct jp_jeextents *extents, const struct jp_jeheap *heap,
                         struct jp_referrers *r)
{
	if (jp_jeblocks_open(s->source, extents, &s->blocks))
		return -1;
	if (!s->blocks.count)
		return 0;
	(void)jp_referrertable_named(&s->table, JP_REFERRER_RUBY, "pages of the GC heap");
	look_everywhere(s);
	if (jp_jeblocks_follow(&s->blocks) || add_blocks(s, heap))
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
