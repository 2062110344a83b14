#include "render/pagestacks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "model/tags.h"
#include "view/fold.h"
#include "view/origin.h"

/* What a run of places is in the page. */
struct place_node {
	uint32_t leaf;   /* node of its innermost frame */
	uint32_t folded; /* likewise, without the interpreter's machinery; 0: there is nothing else */
};

/* The variants of a view with one part of Ruby, under way. */
struct variant_maker {
	struct jp_page_stacks *stacks;
	struct jp_page_names *names;
	const struct jprof_view *view;
	enum jprof_ruby ruby;
	struct jp_fold folds[jp_page_folds]; /* the first takes nothing off */
	struct jp_trie places;               /* of stacks */
	struct place_node *nodes;            /* by node of `places` */
	size_t node_count, node_cap;
	uint32_t *frames; /* of the run under way, innermost first */
	size_t frame_cap;
	struct jp_path path;
};

const struct jp_page_stack *jp_page_stack(const struct jp_page_stacks *stacks, uint32_t stack)
{
	return (const void *)jp_intern_get(&stacks->keys, stack);
}

/* The node of the frames of a place, but for the `skip` inner ones, below a node; JP_NONE when memory is short. */
static uint32_t node_of_place(struct variant_maker *m, uint32_t above, uint32_t place, uint32_t skip)
{
	const struct jp_view_stack alone = { .places = &place, .depth = 1, .skip = skip };
	uint32_t count, first = jp_place_frames(m->view, &alone, 0, &count), node = above;
	for (uint32_t f = first + count; f-- > first && node != JP_NONE;) {
		uint32_t number = jp_page_frame(m->names, f);
		node = number == JP_NONE ? JP_NONE : jp_trie_child(&m->stacks->nodes, node, number);
	}
	return node;
}

/* A place below what stands further out. */
static int learn_place(struct variant_maker *m, struct place_node above, uint32_t place)
{
	if (jp_array_push(m->nodes, m->node_count, m->node_cap))
		return -1;
	struct place_node *node = &m->nodes[m->node_count];
	*node = above;
	node->leaf = node_of_place(m, above.leaf, place, 0);
	if (!jp_fold_takes_out(&m->folds[jp_page_folds - 1], place))
		node->folded = above.folded == above.leaf ? node->leaf : node_of_place(m, above.folded, place, 0);
	m->node_count++;
	return node->leaf == JP_NONE || node->folded == JP_NONE ? -1 : 0;
}

/* Makes a run the last one of the trie of places, and learns what its new nodes are in the page. */
static int add_places(struct variant_maker *m, const struct jp_run *run)
{
	const struct jp_trie *places = &m->places;
	int rc = jp_trie_add(&m->places, run->places, run->depth);
	while (!rc && m->node_count <= jp_trie_count(places)) {
		uint32_t node = (uint32_t)m->node_count;
		rc = learn_place(m, m->nodes[jp_trie_parent(places, node)], jp_trie_item(places, node));
	}
	return rc;
}

/* What the last run's outer part is, so many places long; 0: of nothing. */
static const struct place_node *outer_part(const struct variant_maker *m, uint32_t depth)
{
	return &m->nodes[depth ? m->places.path[depth - 1] : 0];
}

/* Of the last run, or of what folding left of its inner end. */
static uint32_t leaf_of_run(struct variant_maker *m, const struct jp_run *run)
{
	return run->skip ? node_of_place(m, outer_part(m, run->depth - 1)->leaf, run->places[0], run->skip)
	                 : outer_part(m, run->depth)->leaf;
}

/* Of the same, `run`, without the interpreter's machinery, which is `left`. */
static uint32_t leaf_without_machinery(struct variant_maker *m, const struct jp_run *run, const struct jp_run *left)
{
	if (left->skip)
		return node_of_place(m, outer_part(m, run->depth - 1)->folded, left->places[0], left->skip);
	return outer_part(m, run->depth - (run->skip > 0))->folded;
}

/* How many frames are inside of the one at which the memory of a run was allocated; JP_NONE when memory is short. */
static uint32_t site_of_run(struct variant_maker *m, const struct jp_run *run)
{
	const struct jp_view_stack stack = { .places = run->places, .depth = run->depth, .skip = run->skip };
	uint32_t depth = 0;
	for (uint32_t i = 0; m->view->origins && i < run->depth; i++) {
		uint32_t count, first = jp_place_frames(m->view, &stack, i, &count);
		if (jp_array_reserve(&m->frames, &m->frame_cap, (size_t)depth + count, sizeof *m->frames))
			return JP_NONE;
		for (uint32_t f = 0; f < count; f++)
			m->frames[depth++] = first + f;
	}
	return m->view->origins ? jp_origins_site(m->view->origins, m->frames, depth) : 0;
}

static int ends_of_run(struct variant_maker *m, const struct jp_run *run, uint32_t leaf, uint32_t tag,
                       struct jp_page_ends *ends)
{
	if (leaf == JP_NONE || jp_rows_path(&m->names->libraries, run->places, run->depth, tag, &m->path))
		return -1;
	for (size_t i = 0; i < m->path.count; i++)
		if ((m->path.rows[i] = jp_page_library(m->names, m->path.rows[i])) == JP_NONE)
			return -1;
	if (jp_trie_add(&m->stacks->paths, m->path.rows, m->path.count))
		return -1;
	*ends = (struct jp_page_ends){ .leaf = leaf,
		                       .inner = site_of_run(m, run),
		                       .owner = jp_trie_end(&m->stacks->paths),
		                       .owner_inner = (uint32_t)m->path.inner };
	return ends->inner == JP_NONE ? -1 : 0;
}

static bool same_run(const struct jp_run *a, const struct jp_run *b)
{
	return a->places == b->places && a->depth == b->depth && a->skip == b->skip;
}

/* Of a stack at all levels of folding: each takes off what the one before left, and most make the same of it. */
static int make_ends(struct variant_maker *m, uint32_t id, struct jp_page_ends *ends)
{
	const struct jp_view_stack *stack = &m->view->stacks[id];
	struct jp_run before = { .places = stack->places, .depth = stack->depth, .skip = stack->skip };
	if (!before.depth)
		return 0;
	uint32_t native = jp_run_native(&m->view->code, &before);
	if (m->view->origins && m->ruby != JPROF_RUBY_MERGED && (native || m->ruby == JPROF_RUBY_ONLY))
		jp_run_choose(&before, native, m->ruby == JPROF_RUBY_ONLY, &m->view->profile->outside_ruby);
	if (add_places(m, &before) || ends_of_run(m, &before, leaf_of_run(m, &before), stack->tag, ends))
		return -1;
	for (size_t i = 1; i < jp_page_folds; i++) {
		struct jp_run run = before;
		if (jp_fold_stack(&m->folds[i], &run))
			return -1;
		bool apart = run.places == m->folds[i].scratch;
		if (same_run(&run, &before))
			ends[i] = ends[i - 1];
		else if (ends_of_run(m, &run, apart ? leaf_without_machinery(m, &before, &run) : leaf_of_run(m, &run),
		                     stack->tag, &ends[i]))
			return -1;
		before = run;
	}
	return 0;
}

static int make_variants(struct jp_page_stacks *s, struct jp_page_names *names, enum jprof_ruby ruby,
                         struct jp_page_stack *keys, struct jprof_error *err)
{
	static const enum jprof_fold folds[jp_page_folds] = { JPROF_FOLD_NONE, JPROF_FOLD_ALLOC, JPROF_FOLD_STD,
		                                              JPROF_FOLD_VM };
	struct variant_maker m = { .stacks = s, .names = names, .view = names->view, .ruby = ruby, .node_count = 1 };
	int rc = jp_array_push(m.nodes, 0, m.node_cap) ? jp_error_nomem(err) : 0;
	if (!rc)
		m.nodes[0] = (struct place_node){ 0 };
	for (size_t i = 0; i < jp_page_folds; i++) {
		const struct jprof_view_opts opts = { .fold = folds[i] };
		int failed = jp_fold_init(&m.folds[i], &names->view->code, &opts, err);
		rc = rc ? rc : failed;
	}
	for (uint32_t i = 0; !rc && i < names->view->stack_count; i++)
		if (make_ends(&m, i, &keys[i].ends[(size_t)ruby * jp_page_folds]))
			rc = jp_error_nomem(err);
	for (size_t i = 0; i < jp_page_folds; i++)
		jp_fold_release(&m.folds[i]);
	jp_trie_release(&m.places);
	free(m.nodes);
	free(m.frames);
	free(m.path.rows);
	return rc;
}

static uint32_t tag_string(struct jp_page_frames *frames, const struct jprof_view *view, uint32_t tag)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	if (view->profile->tags.count)
		jp_put_tag(&view->profile->tags, tag, &text);
	return text.failed ? JP_NONE : jp_page_string(frames, text.text ? text.text : "");
}

int jp_page_stacks_add(struct jp_page_stacks *s, struct jp_page_names *names, uint32_t **of, struct jprof_error *err)
{
	const struct jprof_view *view = names->view;
	struct jp_page_stack *keys = calloc((size_t)view->stack_count + 1, sizeof *keys);
	int rc = keys ? 0 : jp_error_nomem(err);
	if (!s->variants)
		s->variants = view->origins ? jp_page_variants : jp_page_folds;
	*of = jp_none_array((size_t)view->stack_count + 1);
	for (size_t v = 0; *of && !rc && v < s->variants; v += jp_page_folds)
		rc = make_variants(s, names, (enum jprof_ruby)(v / jp_page_folds), keys, err);
	for (uint32_t i = 0; *of && !rc && i < view->stack_count; i++) {
		keys[i].tag = tag_string(&s->frames, view, view->stacks[i].tag);
		(*of)[i] = jp_intern(&s->keys, &keys[i], sizeof keys[i]);
		if (keys[i].tag == JP_NONE || (*of)[i] == JP_NONE)
			rc = jp_error_nomem(err);
	}
	if (!*of)
		rc = jp_error_nomem(err);
	free(keys);
	return rc;
}

void jp_page_stacks_release(struct jp_page_stacks *s)
{
	jp_page_frames_release(&s->frames);
	jp_trie_release(&s->nodes);
	jp_trie_release(&s->paths);
	jp_intern_release(&s->keys);
	*s = (struct jp_page_stacks){ 0 };
}
