#include "render/pagestacks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "model/tags.h"
#include "view/fold.h"
#include "view/origin.h"

/* One variant of a view under way. */
struct variant_maker {
	struct jp_page_stacks *stacks;
	struct jp_page_names *names;
	const struct jprof_view *view;
	enum jprof_ruby ruby;
	struct jp_fold fold;
	bool folds;
	uint32_t *frames; /* of the stack under way, innermost first */
	size_t frame_cap;
	struct jp_path path;
};

const struct jp_page_node *jp_page_node(const struct jp_page_trie *trie, uint32_t node)
{
	return (const void *)jp_intern_get(&trie->keys, node - 1);
}

const struct jp_page_stack *jp_page_stack(const struct jp_page_stacks *stacks, uint32_t stack)
{
	return (const void *)jp_intern_get(&stacks->keys, stack);
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

/* What the rows and frames of the view are in the page, in their place. */
static bool number_page_frames(struct variant_maker *m, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if ((m->frames[i] = jp_page_frame(m->names, m->frames[i])) == JP_NONE)
			return false;
	for (size_t i = 0; i < m->path.count; i++)
		if ((m->path.rows[i] = jp_page_library(m->names, m->path.rows[i])) == JP_NONE)
			return false;
	return true;
}

static int ends_of_run(struct variant_maker *m, const struct jp_run *run, uint32_t tag, struct jp_page_ends *ends)
{
	size_t depth;
	if (lay_out_run(m, run, &depth) || jp_rows_path(&m->names->libraries, run->places, run->depth, tag, &m->path))
		return -1;
	ends->inner = m->view->origins ? jp_origins_site(m->view->origins, m->frames, (uint32_t)depth) : 0;
	ends->owner_inner = (uint32_t)m->path.inner;
	if (!number_page_frames(m, depth))
		return -1;
	ends->leaf = trie_leaf(&m->stacks->nodes, m->frames, depth);
	ends->owner = trie_leaf(&m->stacks->paths, m->path.rows, m->path.count);
	return ends->leaf == JP_NONE || ends->owner == JP_NONE ? -1 : 0;
}

/* Of a stack; *before is the run that the variant before this one made of it, and becomes this one's. Most levels of
 * folding make the same of a stack as the one before. */
static int make_ends(struct variant_maker *m, uint32_t id, struct jp_run *before, struct jp_page_ends *ends)
{
	const struct jp_view_stack *stack = &m->view->stacks[id];
	struct jp_run run = { .places = stack->places, .depth = stack->depth, .skip = stack->skip };
	if (!run.depth)
		return 0;
	uint32_t native = jp_run_native(&m->view->code, &run);
	if (m->view->origins && m->ruby != JPROF_RUBY_MERGED && (native || m->ruby == JPROF_RUBY_ONLY))
		jp_run_choose(&run, native, m->ruby == JPROF_RUBY_ONLY, &m->view->profile->outside_ruby);
	if (m->folds && jp_fold_stack(&m->fold, &run))
		return -1;
	bool same = run.places == before->places && run.depth == before->depth && run.skip == before->skip;
	*before = (struct jp_run){ 0 };
	if (run.places != m->fold.scratch)
		*before = run;
	if (!same)
		return ends_of_run(m, &run, stack->tag, ends);
	*ends = ends[-1];
	return 0;
}

/* `runs`: of each stack, see make_ends; all zero at first. */
static int make_variant(struct jp_page_stacks *s, struct jp_page_names *names, size_t variant,
                        struct jp_page_stack *keys, struct jp_run *runs, struct jprof_error *err)
{
	static const enum jprof_fold folds[jp_page_folds] = { JPROF_FOLD_NONE, JPROF_FOLD_ALLOC, JPROF_FOLD_STD,
		                                              JPROF_FOLD_VM };
	const struct jprof_view_opts opts = { .fold = folds[variant % jp_page_folds] };
	struct variant_maker m = { .stacks = s,
		                   .names = names,
		                   .view = names->view,
		                   .ruby = (enum jprof_ruby)(variant / jp_page_folds),
		                   .folds = opts.fold != JPROF_FOLD_NONE };
	int rc = jp_fold_init(&m.fold, &names->view->code, &opts, err);
	for (uint32_t i = 0; !rc && i < names->view->stack_count; i++)
		if (make_ends(&m, i, &runs[i], &keys[i].ends[variant]))
			rc = jp_error_nomem(err);
	jp_fold_release(&m.fold);
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
	struct jp_run *runs = calloc((size_t)view->stack_count + 1, sizeof *runs);
	int rc = keys && runs ? 0 : jp_error_nomem(err);
	if (!s->variants)
		s->variants = view->origins ? jp_page_variants : jp_page_folds;
	*of = jp_none_array((size_t)view->stack_count + 1);
	for (size_t v = 0; *of && !rc && v < s->variants; v++)
		rc = make_variant(s, names, v, keys, runs, err);
	for (uint32_t i = 0; *of && !rc && i < view->stack_count; i++) {
		keys[i].tag = tag_string(&s->frames, view, view->stacks[i].tag);
		(*of)[i] = jp_intern(&s->keys, &keys[i], sizeof keys[i]);
		if (keys[i].tag == JP_NONE || (*of)[i] == JP_NONE)
			rc = jp_error_nomem(err);
	}
	if (!*of)
		rc = jp_error_nomem(err);
	free(keys);
	free(runs);
	return rc;
}

void jp_page_stacks_release(struct jp_page_stacks *s)
{
	jp_page_frames_release(&s->frames);
	jp_intern_release(&s->nodes.keys);
	jp_intern_release(&s->paths.keys);
	jp_intern_release(&s->keys);
	*s = (struct jp_page_stacks){ 0 };
}
