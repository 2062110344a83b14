#include "render/flametree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "render/calltree.h"

enum { all_stacks = 0 };

struct flame_maker {
	struct jp_flame_tree *tree;
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jp_calls calls; /* the tree's nodes are theirs */
	uint8_t *whose;        /* by row, and 1 more; 0: not known yet */
	size_t whose_cap, whose_count;
};

/* Rows of frames are those of their first frame's owner, others that of the object where they were seen first. */
static int learn_whose(struct flame_maker *m, uint32_t row, uint32_t at)
{
	const struct jprof_view *v = m->view;
	if (row >= m->whose_count) {
		if (jp_array_reserve(&m->whose, &m->whose_cap, (size_t)row + 1, 1))
			return -1;
		memset(m->whose + m->whose_count, 0, row + 1 - m->whose_count);
		m->whose_count = (size_t)row + 1;
	}
	if (!m->whose[row])
		m->whose[row] = 1 + (uint8_t)(v->paths ? jp_whose_object(&v->code, v->row_object[row])
		                                       : jp_whose_frame(v, m->walk.frames[at]));
	return 0;
}

/* Adds the rows of a stack. By library a path says whose it is; else all frames count, those inside of the one where it
 * was allocated too. */
static int add_flame_calls(struct flame_maker *m, uint32_t stack, size_t *depth)
{
	jp_walk_rows(&m->walk, stack);
	uint32_t first = m->view->paths ? m->walk.inner : 0;
	for (uint32_t i = first; i < m->walk.length; i++)
		if (learn_whose(m, m->walk.rows[i], i))
			return -1;
	return jp_calls_add(&m->calls, m->walk.rows + first, m->walk.length - first, depth);
}

static int add_flame_node(struct flame_maker *m, const struct jp_call *call)
{
	struct jp_flame_tree *t = m->tree;
	if (jp_array_push(t->nodes, t->count, t->cap))
		return -1;
	t->nodes[t->count++] = (struct jp_flame_node){ .row = call->row,
		                                       .parent = call->parent,
		                                       .level = t->nodes[call->parent].level + 1,
		                                       .whose = (enum jp_whose)(m->whose[call->row] - 1) };
	return 0;
}

static int add_flame_stack(struct flame_maker *m, uint32_t stack)
{
	double base = jp_stack_base(m->view, stack), now = base + jp_stack_value(m->view, stack);
	size_t depth;
	if (!m->view->stacks[stack].depth || (base == 0 && now == 0))
		return 0;
	if (add_flame_calls(m, stack, &depth))
		return -1;
	for (size_t i = 0; i < depth; i++)
		if (m->calls.path[i] == m->tree->count && add_flame_node(m, &m->calls.nodes[m->calls.path[i]]))
			return -1;
	struct jp_flame_node *node = &m->tree->nodes[depth ? m->calls.path[depth - 1] : all_stacks];
	node->own[0] += base;
	node->own[1] += now;
	if (m->view->evidence)
		jp_evidence_add(&node->evidence, &m->view->evidence[stack]);
	return 0;
}

/* From the leaves to the root. */
static void sum_flame_up(struct jp_flame_tree *t)
{
	for (size_t i = t->count; i-- > 0;) {
		struct jp_flame_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];
		node->width += fmax(fmax(node->own[0], node->own[1]), 0);
		node->value[0] += node->own[0];
		node->value[1] += node->own[1];
		if (!i)
			break;
		parent->width += node->width;
		parent->value[0] += node->value[0];
		parent->value[1] += node->value[1];
		jp_evidence_add(&parent->evidence, &node->evidence);
	}
}

/* By parent, then the widest first, then by name. */
static int order_of_siblings(const void *a, const void *b, void *context)
{
	const struct flame_maker *m = context;
	const struct jp_flame_node *x = &m->tree->nodes[*(const uint32_t *)a];
	const struct jp_flame_node *y = &m->tree->nodes[*(const uint32_t *)b];
	return jp_order_by(
	    x->parent, y->parent,
	    jp_order_by(y->width, x->width, strcmp(m->view->rows[x->row].name, m->view->rows[y->row].name)));
}

static int place_siblings(struct flame_maker *m)
{
	struct jp_flame_tree *t = m->tree;
	uint32_t *order = calloc(t->count, sizeof *order);
	if (!order)
		return -1;
	for (uint32_t i = 1; i < t->count; i++)
		order[i - 1] = i;
	qsort_r(order, t->count - 1, sizeof *order, order_of_siblings, m);
	double x = 0;
	for (size_t i = 0; i + 1 < t->count; i++) {
		struct jp_flame_node *node = &t->nodes[order[i]];
		bool first = !i || t->nodes[order[i - 1]].parent != node->parent;
		node->x = first ? t->nodes[node->parent].x : x;
		x = node->x + node->width;
	}
	free(order);
	return 0;
}

int jp_flame_tree_init(struct jp_flame_tree *tree, const struct jprof_view *view)
{
	struct flame_maker m = { .tree = tree, .view = view };
	*tree = (struct jp_flame_tree){ 0 };
	int rc = jp_walk_init(&m.walk, view) || jp_array_push(tree->nodes, 0, tree->cap) ? -1 : 0;
	if (!rc)
		tree->nodes[tree->count++] = (struct jp_flame_node){ .row = JP_NONE };
	for (uint32_t i = 0; !rc && i < view->stack_count; i++)
		rc = add_flame_stack(&m, i);
	if (!rc) {
		sum_flame_up(tree);
		rc = place_siblings(&m);
	}
	jp_walk_release(&m.walk);
	jp_calls_release(&m.calls);
	free(m.whose);
	return rc;
}

void jp_flame_tree_release(struct jp_flame_tree *tree)
{
	free(tree->nodes);
	*tree = (struct jp_flame_tree){ 0 };
}
