#include "rubyheap/classcrowds.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "rubyheap/keeperwords.h"

/* One that has more than this part of a crowd is a keeper by itself. So there are ten of them at least. */
static const double most_of_crowd = 0.1;

/* ---- who may be of one ------------------------------------------------------------------------------------------ */

static bool is_any_class(const struct jp_heap *heap, uint32_t node)
{
	enum jp_heap_type type = node < heap->count ? (enum jp_heap_type)heap->objects[node].type : JP_HEAP_ROOT;
	return type == JP_HEAP_CLASS || type == JP_HEAP_MODULE || type == JP_HEAP_SINGLETON;
}

/* By node that a class dominates: the word by which that refers to it. NULL when memory is short. */
static uint32_t *name_members(const struct jprof_rubyheap *h)
{
	const struct jp_heap *heap = &h->heap;
	uint32_t *names = jp_none_array(heap->graph.nodes);
	for (uint32_t owner = 0; names && heap->edge_names && owner < heap->count; owner++) {
		if (!is_any_class(heap, owner))
			continue;
		for (uint32_t e = heap->graph.first[owner]; e < heap->graph.first[owner + 1]; e++)
			if (h->dominators.idom[heap->graph.to[e]] == owner && names[heap->graph.to[e]] == JP_NONE)
				names[heap->graph.to[e]] = heap->edge_names[e];
	}
	return names;
}

/* Without names only what is made to hold others is worth counting. JP_NONE: it is of no kind. */
static uint32_t kind_of_member(const struct jp_heap *heap, uint32_t node, uint32_t name)
{
	enum jp_heap_type type = (enum jp_heap_type)heap->objects[node].type;
	uint32_t class_node = heap->objects[node].class_node;
	if (type <= JP_HEAP_ICLASS || type == JP_HEAP_IMEMO)
		return JP_NONE;
	if (heap->edge_names)
		return name;
	bool plain = (type == JP_HEAP_HASH || type == JP_HEAP_ARRAY) && class_node != JP_NONE &&
	             heap->objects[class_node].name != JP_NONE;
	return plain ? heap->words.count + heap->objects[class_node].name : JP_NONE;
}

/* Nodes that dominate a keeper. NULL when memory is short. */
static bool *find_above(const struct jprof_rubyheap *h, const uint32_t *keepers, size_t rows)
{
	const uint32_t *idom = h->dominators.idom;
	bool *above = calloc(h->heap.graph.nodes, sizeof *above);
	for (size_t i = 0; above && i < rows; i++)
		for (uint32_t n = idom[keepers[i]]; n != JP_NONE && !above[n]; n = idom[n])
			above[n] = true;
	return above;
}

static int add_members(struct jp_crowds *c, const struct jp_weights *w, const uint32_t *row_of, const uint32_t *keepers,
                       const bool *above)
{
	const struct jp_heap *heap = &w->h->heap;
	uint32_t *names = name_members(w->h);
	bool failed = !names;
	for (uint32_t node = 0; !failed && node < heap->count; node++) {
		uint32_t owner = w->h->dominators.idom[node];
		bool kept = row_of[node] != JP_NONE && keepers[row_of[node]] != node;
		if (!w->bytes[node] || owner == JP_NONE || !is_any_class(heap, owner) || kept || above[node])
			continue;
		uint32_t kind = kind_of_member(heap, node, names[node]);
		if (kind == JP_NONE)
			continue;
		failed = jp_array_push(c->members, c->member_count, c->member_cap);
		if (!failed)
			c->members[c->member_count++] = (struct jp_crowd_member){ kind, node, owner, w->bytes[node] };
	}
	free(names);
	return failed ? -1 : 0;
}

/* ---- crowds ------------------------------------------------------------------------------------------------------ */

static int by_kind_then_bytes(const void *a, const void *b)
{
	const struct jp_crowd_member *x = a, *y = b;
	return jp_order_by(x->kind, y->kind, jp_order_by(y->bytes, x->bytes, jp_order(x->node, y->node)));
}

static int by_crowd_bytes(const void *a, const void *b)
{
	const struct jp_crowd *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, jp_order(x->members->kind, y->members->kind));
}

/* All members of each kind. */
static int group_members(struct jp_crowds *c, bool sampled)
{
	qsort(c->members, c->member_count, sizeof *c->members, by_kind_then_bytes);
	for (size_t i = 0; i < c->member_count; i++) {
		bool begins = !i || c->members[i].kind != c->members[i - 1].kind;
		if (begins && jp_array_push(c->items, c->count, c->cap))
			return -1;
		if (begins)
			c->items[c->count++] = (struct jp_crowd){ .members = &c->members[i], .sampled = sampled };
		c->items[c->count - 1].count++;
		c->items[c->count - 1].bytes += c->members[i].bytes;
	}
	if (c->count)
		qsort(c->items, c->count, sizeof *c->items, by_crowd_bytes);
	return 0;
}

/* What lies around a crowd or a keeper, by node: bytes are counted once. */
struct surroundings {
	bool *above, *inside;
};

static void surround(const struct jp_dominators *d, const struct jp_crowd *crowd, struct surroundings *s)
{
	for (size_t i = 0; i < crowd->count; i++) {
		uint32_t node = crowd->members[i].node;
		s->inside[node] = true;
		for (uint32_t n = d->idom[node]; n != JP_NONE && !s->above[n]; n = d->idom[n])
			s->above[n] = true;
	}
	for (uint32_t i = 1; i < d->reached; i++)
		s->inside[d->order[i]] = s->inside[d->order[i]] || s->inside[d->idom[d->order[i]]];
}

/* Leaves those of its members that are around no other crowd, without the ones that have too much of it. */
static void settle_crowd(struct jp_crowd *crowd, const struct surroundings *s)
{
	size_t count = 0;
	for (size_t i = 0; i < crowd->count; i++) {
		uint32_t node = crowd->members[i].node;
		if (s->above[node] || s->inside[node])
			crowd->bytes -= crowd->members[i].bytes;
		else
			crowd->members[count++] = crowd->members[i];
	}
	crowd->count = count;
	while (crowd->count && (double)crowd->members->bytes > most_of_crowd * (double)crowd->bytes) {
		crowd->bytes -= crowd->members++->bytes;
		crowd->count--;
	}
}

int jp_crowds_find(struct jp_crowds *c, const struct jp_weights *w, const uint32_t *row_of, const uint32_t *keepers,
                   size_t rows)
{
	const struct jprof_rubyheap *h = w->h;
	struct surroundings s = { find_above(h, keepers, rows), calloc(h->heap.graph.nodes, sizeof *s.inside) };
	bool failed = !s.above || !s.inside || add_members(c, w, row_of, keepers, s.above) ||
	              (c->member_count && group_members(c, h->heap.is_sampled && w->alone));
	size_t found = 0;
	for (size_t i = 0; !failed && i < c->count && c->items[i].bytes >= w->least; i++) {
		settle_crowd(&c->items[i], &s);
		if (!c->items[i].count || c->items[i].bytes < w->least)
			continue;
		surround(&h->dominators, &c->items[i], &s);
		c->items[found++] = c->items[i];
	}
	c->count = found;
	free(s.above);
	free(s.inside);
	return failed ? -1 : 0;
}

void jp_crowds_release(struct jp_crowds *c)
{
	free(c->members);
	free(c->items);
	*c = (struct jp_crowds){ 0 };
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static int by_owner(const void *a, const void *b)
{
	const struct jp_crowd_member *x = a, *y = b;
	return jp_order(x->owner, y->owner);
}

/* 0 when memory is short. */
static size_t count_classes(const struct jp_crowd *crowd)
{
	struct jp_crowd_member *sorted = malloc(crowd->count * sizeof *sorted);
	size_t classes = 0;
	for (size_t i = 0; sorted && i < crowd->count; i++)
		sorted[i] = crowd->members[i];
	if (sorted)
		qsort(sorted, crowd->count, sizeof *sorted, by_owner);
	for (size_t i = 0; sorted && i < crowd->count; i++)
		classes += !i || sorted[i].owner != sorted[i - 1].owner;
	free(sorted);
	return classes;
}

const char *jp_crowd_what(const struct jprof_rubyheap *h, const struct jp_crowd *crowd, struct jp_arena *texts)
{
	const struct jp_heap *heap = &h->heap;
	uint32_t kind = crowd->members->kind;
	bool named = kind < heap->words.count;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	size_t classes = count_classes(crowd);
	const char *word = jp_heap_word(heap, named ? kind : kind - heap->words.count);
	if (named)
		jp_strbuf_printf(&text, "%s of ", word);
	else
		jp_strbuf_printf(&text, "%s %s in each of ", strchr("AEIOU", *word) ? "an" : "a", word);
	jp_strbuf_str(&text, crowd->sampled ? "at least " : "");
	jp_strbuf_grouped(&text, classes, 0);
	jp_strbuf_str(&text, " classes");
	return text.failed || !classes ? NULL : jp_arena_dup(texts, text.text, text.len);
}

const char *jp_crowd_path(const struct jprof_rubyheap *h, const struct jp_crowd *crowd, const uint64_t *bytes,
                          uint64_t *of_class, struct jp_arena *texts)
{
	const char *what = jp_crowd_what(h, crowd, texts),
		   *inside = jp_keeper_content(h, crowd->members->node, bytes, of_class, texts);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_printf(&text, "%s > %s", what ? what : "", inside ? inside : "");
	return text.failed || !what || !inside ? NULL : jp_arena_dup(texts, text.text, text.len);
}
