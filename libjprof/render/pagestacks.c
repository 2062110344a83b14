#include "render/pagestacks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "view/fold.h"
#include "view/origin.h"
#include "view/store.h"

/* One variant under way. */
struct variant_maker {
	struct jp_page_stacks *stacks;
	const struct jprof_view *view;
	struct jp_page_variant *variant;
	struct jp_fold fold;
	uint32_t *frames; /* of the stack under way, innermost first */
	size_t frame_cap;
	struct jp_path path;
};

const struct jp_page_node *jp_page_node(const struct jp_page_trie *trie, uint32_t node)
{
	return (const void *)jp_intern_get(&trie->keys, node - 1);
}

/* The node of `item` below `parent`; JP_NONE when memory is short. */
static uint32_t trie_child(struct jp_page_trie *trie, uint32_t parent, uint32_t item)
{
	const struct jp_page_node key = { parent, item };
	uint32_t id = jp_intern(&trie->keys, &key, sizeof key);
	return id == JP_NONE ? JP_NONE : id + 1;
}

static uint32_t trie_leaf(struct jp_page_trie *trie, const uint32_t *inner_first, size_t count)
{
	uint32_t node = 0;
	for (size_t i = count; i-- > 0 && node != JP_NONE;)
		node = trie_child(trie, node, inner_first[i]);
	return node;
}

/* Leaves the part of Ruby that is asked for, as view/resolve.c does. */
static void choose_ruby_part(const struct variant_maker *m, struct jp_run *run)
{
	const struct jprof_view *v = m->view;
	uint32_t native = run->depth;
	if (!v->origins || m->variant->ruby == JPROF_RUBY_MERGED)
		return;
	while (native && v->code.locations[run->places[native - 1]].source == JPROF_SOURCE_RUBY)
		native--;
	if (m->variant->ruby == JPROF_RUBY_OFF && native)
		run->depth = native;
	else if (m->variant->ruby == JPROF_RUBY_ONLY && native < run->depth)
		*run = (struct jp_run){ .places = run->places + native, .depth = run->depth - native };
	else if (m->variant->ruby == JPROF_RUBY_ONLY)
		*run = (struct jp_run){ .places = &v->profile->outside_ruby, .depth = 1 };
}

/* The frames of a run, as jp_walk_frames has them. */
static int lay_out_run(struct variant_maker *m, const struct jp_run *run, size_t *depth)
{
	struct jp_view_stack stack = { .places = run->places, .depth = run->depth, .skip = run->skip };
	*depth = 0;
	for (uint32_t i = 0; i < run->depth; i++) {
		uint32_t count, first = jp_place_frames(m->view, &stack, i, &count);
		if (jp_array_reserve(&m->frames, &m->frame_cap, *depth + count, sizeof *m->frames))
			return -1;
		for (uint32_t f = 0; f < count; f++)
			m->frames[(*depth)++] = first + f;
	}
	return 0;
}

static int add_page_stack(struct variant_maker *m, uint32_t id)
{
	const struct jp_view_stack *stack = &m->view->stacks[id];
	struct jp_run run = { .places = stack->places, .depth = stack->depth, .skip = stack->skip };
	struct jp_page_variant *v = m->variant;
	size_t depth;
	if (!run.depth)
		return 0;
	choose_ruby_part(m, &run);
	if (v->fold != JPROF_FOLD_NONE && jp_fold_stack(&m->fold, &run))
		return -1;
	if (lay_out_run(m, &run, &depth) ||
	    jp_rows_path(&m->stacks->libraries, run.places, run.depth, stack->tag, &m->path))
		return -1;
	v->leaf[id] = trie_leaf(&m->stacks->frames, m->frames, depth);
	v->inner[id] = m->view->origins ? jp_origins_site(m->view->origins, m->frames, (uint32_t)depth) : 0;
	v->owner[id] = trie_leaf(&m->stacks->paths, m->path.rows, m->path.count);
	v->owner_inner[id] = (uint32_t)m->path.inner;
	return v->leaf[id] == JP_NONE || v->owner[id] == JP_NONE ? -1 : 0;
}

static int make_variant(struct jp_page_stacks *s, struct jp_page_variant *variant, struct jprof_error *err)
{
	const struct jprof_view *view = s->view;
	struct variant_maker m = { .stacks = s, .view = view, .variant = variant };
	const struct jprof_view_opts opts = { .fold = variant->fold };
	size_t count = (size_t)view->stack_count + 1;
	int rc = jp_fold_init(&m.fold, &view->code, &opts, err);
	variant->leaf = calloc(count, sizeof *variant->leaf);
	variant->inner = calloc(count, sizeof *variant->inner);
	variant->owner = calloc(count, sizeof *variant->owner);
	variant->owner_inner = calloc(count, sizeof *variant->owner_inner);
	if (!rc && !(variant->leaf && variant->inner && variant->owner && variant->owner_inner))
		rc = jp_error_nomem(err);
	for (uint32_t i = 0; !rc && i < view->stack_count; i++)
		if (add_page_stack(&m, i))
			rc = jp_error_nomem(err);
	jp_fold_release(&m.fold);
	free(m.frames);
	free(m.path.rows);
	return rc;
}

int jp_page_stacks_init(struct jp_page_stacks *s, const struct jprof_view *view, struct jprof_error *err)
{
	static const enum jprof_fold folds[jp_page_folds] = { JPROF_FOLD_NONE, JPROF_FOLD_ALLOC, JPROF_FOLD_STD,
		                                              JPROF_FOLD_VM };
	const struct jprof_view_opts opts = { .granularity = JPROF_BY_LIBRARY, .trim_path = view->store->rows.trim };
	*s = (struct jp_page_stacks){ .view = view };
	int rc = jp_rows_init(&s->libraries, &view->code, view->location_of, &opts, err);
	s->libraries.origins = view->origins;
	s->libraries.tags = &view->profile->tags;
	int parts = view->origins ? JPROF_RUBY_OFF + 1 : 1;
	for (int ruby = 0; !rc && ruby < parts; ruby++)
		for (size_t f = 0; !rc && f < jp_page_folds; f++) {
			struct jp_page_variant *variant = &s->variants[s->count++];
			*variant = (struct jp_page_variant){ .ruby = (enum jprof_ruby)ruby, .fold = folds[f] };
			rc = make_variant(s, variant, err);
		}
	return rc;
}

void jp_page_stacks_release(struct jp_page_stacks *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->variants[i].leaf);
		free(s->variants[i].inner);
		free(s->variants[i].owner);
		free(s->variants[i].owner_inner);
	}
	jp_intern_release(&s->frames.keys);
	jp_intern_release(&s->paths.keys);
	jp_rows_release(&s->libraries);
	*s = (struct jp_page_stacks){ 0 };
}
