#include "render/flametree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "render/unloop.h"

enum { all_stacks = 0 };

struct flame_maker {
	struct jp_flame_tree *tree;
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jp_intern keys; /* (parent, row); a node's id is its key's and 1 */
	uint32_t *path;        /* of the stack under way, outermost first */
	size_t path_cap;
	bool *loops;
	size_t loop_cap;
	uint8_t *whose; /* by row, and 1 more; 0: not known yet */
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

/* Lays out a stack's rows, outermost first, without loops. By library a path says whose it is; else all frames count,
 * those inside of the one where it was allocated too. */
static int lay_out_flame_path(struct flame_maker *m, uint32_t stack, size_t *len)
{
	jp_walk_rows(&m->walk, stack);
	uint32_t first = m->view->paths ? m->walk.inner : 0, depth = m->walk.length - first;
	if (jp_array_reserve(&m->path, &m->path_cap, (size_t)depth + 1, sizeof *m->path) ||
	    jp_array_reserve(&m->loops, &m->loop_cap, (size_t)depth + 1, sizeof *m->loops))
		return -1;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t row = m->path[depth - 1 - i] = m->walk.rows[first + i];
		if (learn_whose(m, row, first + i))
			return -1;
	}
	*len = jp_unloop(m->path, depth, m->loops);
	return 0;
}

static uint32_t flame_child(struct flame_maker *m, uint32_t parent, uint32_t row)
{
	struct jp_flame_tree *t = m->tree;
	const uint32_t key[] = { parent, row };
	uint32_t known = m->keys.count, id = jp_intern(&m->keys, key, sizeof key);
	if (id == JP_NONE || id != known)
		return id == JP_NONE ? JP_NONE : id + 1;
	if (jp_array_push(t->nodes, t->count, t->cap))
		return JP_NONE;
	t->nodes[t->count++] = (struct jp_flame_node){ .row = row,
		                                       .parent = parent,
		                                       .level = t->nodes[parent].level + 1,
		                                       .whose = (enum jp_whose)(m->whose[row] - 1) };
	return id + 1;
}

static int add_flame_stack(struct flame_maker *m, uint32_t stack)
{
	double base = jp_stack_base(m->view, stack), now = base + jp_stack_value(m->view, stack);
	size_t len;
	uint32_t at = all_stacks;
	if (!m->view->stacks[stack].depth || (base == 0 && now == 0))
		return 0;
	if (lay_out_flame_path(m, stack, &len))
		return -1;
	for (size_t i = 0; i < len && at != JP_NONE; i++)
		at = flame_child(m, at, m->path[i]);
	if (at == JP_NONE)
		return -1;
	struct jp_flame_node *node = &m->tree->nodes[at];
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
	jp_intern_release(&m.keys);
	free(m.path);
	free(m.loops);
	free(m.whose);
	return rc;
}

void jp_flame_tree_release(struct jp_flame_tree *tree)
{
	free(tree->nodes);
	*tree = (struct jp_flame_tree){ 0 };
}
