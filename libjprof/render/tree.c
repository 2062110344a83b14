/* --tree: what was called from where, from the roots on. Rows are
 * flat, flat%, cum, cum%, and the name, indented at each fork:
 *
 *     + main                     a root, or one of several callees
 *       run                      what main calls; nothing else has a share worth a row
 *       ... 12 more, each called by the one above
 *       work
 *       + parse
 *       + (3 more)               callees that are too small, together
 *
 * A call that goes round (f calls f, or f calls g calls f) is shown once and marked "(recursive)". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "render/calltree.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"
#include "view/walk.h"

enum { chain_ends = 3, root = 0 };

struct tree_node {
	uint32_t name, parent;
	double flat, cum;
	uint32_t child_first, child_count; /* places in tree->order, once sorted */
	bool recursive, shown;
};

struct tree {
	const struct jprof_view *view;
	struct jp_walk walk;
	const struct jprof_report_opts *opts;
	enum jp_unit unit;
	struct jp_calls calls;
	struct tree_node *nodes; /* by node of `calls` */
	size_t count, cap;
	uint32_t *order; /* nodes by parent, then size */
	struct jp_scale scale;
	struct jp_strbuf *out;
};

/* ---- building ------------------------------------------------------------------------------------ */

static int add_tree_stack(struct tree *t, uint32_t stack)
{
	double value = jp_stack_value(t->view, stack);
	size_t depth;
	jp_walk_rows(&t->walk, stack);
	const uint32_t *rows = jp_walk_path(&t->walk, &depth);
	if (jp_calls_add(&t->calls, rows, depth, &depth))
		return -1;
	for (size_t i = 0; i < depth; i++) {
		uint32_t at = t->calls.path[i];
		if (at == t->count) {
			const struct jp_call *call = &t->calls.nodes[at];
			if (jp_array_push(t->nodes, t->count, t->cap))
				return -1;
			t->nodes[t->count++] = (struct tree_node){ .name = call->row, .parent = call->parent };
		}
		t->nodes[at].cum += value;
		if (t->calls.loops[i])
			t->nodes[at].recursive = true;
	}
	if (depth) {
		t->nodes[t->calls.path[depth - 1]].flat += value;
		t->nodes[root].cum += value;
	}
	return 0;
}

/* ---- order ----------------------------------------------------------------------------------------- */

static int by_cum_and_name(const void *a, const void *b, void *context)
{
	const struct tree *t = context;
	const struct tree_node *x = &t->nodes[*(const uint32_t *)a], *y = &t->nodes[*(const uint32_t *)b];
	return jp_order_by(fabs(y->cum), fabs(x->cum),
	                   strcmp(t->view->rows[x->name].name, t->view->rows[y->name].name));
}

static int by_cum_and_id(const void *a, const void *b, void *context)
{
	const struct tree *t = context;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct tree_node *x = &t->nodes[m], *y = &t->nodes[n];
	return jp_order_by(fabs(y->cum), fabs(x->cum), jp_order(m, n));
}

/* The biggest nodes, and whatever leads to them: in a difference a caller may be smaller than its callee. */
static void choose(struct tree *t)
{
	size_t rows = t->opts->top ? t->opts->top : SIZE_MAX, worth = 0;
	double share = t->opts->least_share == 0 ? 0.005 : fmax(t->opts->least_share, 0);
	double least = share * fabs(t->scale.whole);
	for (uint32_t i = 1; i < t->count; i++)
		if (fabs(t->nodes[i].cum) >= least && t->nodes[i].cum != 0)
			t->order[worth++] = i;
	qsort_r(t->order, worth, sizeof *t->order, by_cum_and_id, t);
	t->nodes[root].shown = true;
	for (size_t i = 0; i < worth && rows; i++)
		for (uint32_t at = t->order[i]; !t->nodes[at].shown; at = t->nodes[at].parent) {
			t->nodes[at].shown = true;
			rows -= rows > 0;
		}
}

/* The callees of each node together, the biggest first. */
static void order_callees(struct tree *t)
{
	uint32_t place = 0;
	for (uint32_t i = 1; i < t->count; i++)
		t->nodes[t->nodes[i].parent].child_count++;
	for (uint32_t i = 0; i < t->count; i++) {
		t->nodes[i].child_first = place;
		place += t->nodes[i].child_count;
		t->nodes[i].child_count = 0;
	}
	for (uint32_t i = 1; i < t->count; i++) {
		struct tree_node *parent = &t->nodes[t->nodes[i].parent];
		t->order[parent->child_first + parent->child_count++] = i;
	}
	for (uint32_t i = 0; i < t->count; i++)
		if (t->nodes[i].child_count > 1)
			qsort_r(t->order + t->nodes[i].child_first, t->nodes[i].child_count, sizeof *t->order,
			        by_cum_and_name, t);
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* What is still to be written; `more` nodes too small stand for JP_NONE. */
struct pending {
	uint32_t node, indent;
	uint32_t more;
	double cum;
};

struct stack {
	struct pending *items;
	size_t count, cap;
};

static int push(struct stack *stack, struct pending item)
{
	if (jp_array_push(stack->items, stack->count, stack->cap))
		return -1;
	stack->items[stack->count++] = item;
	return 0;
}

static void put_numbers(const struct tree *t, double flat, double cum)
{
	jp_strbuf_printf(t->out, "%8s %6s %8s %6s ", jp_shown_value(flat, t->unit).text,
	                 jp_shown_percent(flat, t->scale).text, jp_shown_value(cum, t->unit).text,
	                 jp_shown_percent(cum, t->scale).text);
}

static void put_tree_node(const struct tree *t, const struct tree_node *node, uint32_t indent, bool fork)
{
	put_numbers(t, node->flat, node->cum);
	jp_strbuf_printf(t->out, "%*s%s ", (int)(2 * indent), "", fork ? "+" : " ");
	jp_strbuf_visible(t->out, t->view->rows[node->name].name);
	jp_strbuf_str(t->out, node->recursive ? " (recursive)\n" : "\n");
	jp_strbuf_drain(t->out);
}

/* The only callee of a node, if that has one worth a row and nothing beside it. */
static uint32_t only_child(const struct tree *t, uint32_t id)
{
	const struct tree_node *node = &t->nodes[id];
	uint32_t child = node->child_count ? t->order[node->child_first] : JP_NONE;
	return node->child_count == 1 && t->nodes[child].shown ? child : JP_NONE;
}

/* How many nodes follow this one with its very value: none allocates itself or calls anything else. */
static size_t chain_length(const struct tree *t, uint32_t id)
{
	size_t length = 0;
	for (; t->nodes[id].flat == 0 && (id = only_child(t, id)) != JP_NONE;)
		length++;
	return length;
}

/* Writes a node and the chain below it; returns the last of the chain. */
static uint32_t put_chain(const struct tree *t, uint32_t id, uint32_t indent)
{
	size_t left = chain_length(t, id), place = 0;
	bool cut = left > 2 * chain_ends + 1 && !t->opts->chains;
	put_tree_node(t, &t->nodes[id], indent, true);
	for (; left; left--) {
		id = only_child(t, id);
		place++;
		if (cut && place == chain_ends) {
			size_t hidden = left - chain_ends;
			put_numbers(t, 0, t->nodes[id].cum);
			jp_strbuf_printf(t->out, "%*s  ... %zu more, each called by the one above\n", (int)(2 * indent),
			                 "", hidden);
			for (; hidden; hidden--, left--)
				id = only_child(t, id);
		}
		put_tree_node(t, &t->nodes[id], indent, false);
	}
	return id;
}

static int push_children(const struct tree *t, struct stack *stack, uint32_t id, uint32_t indent)
{
	const struct tree_node *node = &t->nodes[id];
	/* Callees too small for a row, together. */
	struct pending rest = { .node = JP_NONE, .indent = indent };
	for (uint32_t i = 0; i < node->child_count; i++) {
		const struct tree_node *child = &t->nodes[t->order[node->child_first + i]];
		if (child->shown || child->cum == 0)
			continue;
		rest.more++;
		rest.cum += child->cum;
	}
	int rc = rest.more ? push(stack, rest) : 0;
	for (uint32_t i = node->child_count; !rc && i-- > 0;) {
		uint32_t child = t->order[node->child_first + i];
		if (t->nodes[child].shown)
			rc = push(stack, (struct pending){ .node = child, .indent = indent });
	}
	return rc;
}

static int put_tree(const struct tree *t)
{
	struct stack stack = { 0 };
	int rc = push_children(t, &stack, root, 0);
	while (!rc && stack.count) {
		struct pending next = stack.items[--stack.count];
		if (next.node == JP_NONE) {
			put_numbers(t, 0, next.cum);
			jp_strbuf_printf(t->out, "%*s+ (%u more)\n", (int)(2 * next.indent), "", next.more);
			continue;
		}
		uint32_t last = put_chain(t, next.node, next.indent);
		rc = push_children(t, &stack, last, next.indent + 1);
	}
	free(stack.items);
	return rc;
}

static int build_tree(struct tree *t)
{
	if (jp_walk_init(&t->walk, t->view) || jp_array_push(t->nodes, t->count, t->cap))
		return -1;
	t->nodes[t->count++] = (struct tree_node){ .name = JP_NONE, .parent = JP_NONE };
	for (uint32_t i = 0; i < t->view->stack_count; i++)
		if (add_tree_stack(t, i))
			return -1;
	t->scale = jp_scale_of(t->view);
	t->order = calloc(t->count, sizeof *t->order);
	if (!t->order)
		return -1;
	choose(t);
	order_callees(t);
	return 0;
}

int jp_render_tree(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct tree t = { .view = view, .opts = opts, .unit = jp_unit_of(view, opts), .out = out };
	int rc = build_tree(&t);
	if (!rc) {
		jp_put_total(view, opts, t.unit, out);
		rc = put_tree(&t);
	}
	jp_walk_release(&t.walk);
	jp_calls_release(&t.calls);
	free(t.nodes);
	free(t.order);
	return rc ? jp_error_nomem(err) : 0;
}
