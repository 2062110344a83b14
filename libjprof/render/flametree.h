/* The stacks of a view as a tree, from the roots on: what flame graphs draw. */
#pragma once

#include "view/walk.h"
#include "view/whose.h"

/* A row of the view, called by the rows above it. The first node is the root, and no row. Recursion counts once. */
struct jp_flame_node {
	uint32_t row, parent, level; /* the root's level is 0 */
	enum jp_whose whose;
	double own[2];   /* without what it calls: before, and now; before is 0 where there is no difference */
	double value[2]; /* with it */
	double width;    /* the larger of both, of it and of each that it calls: so what vanished has its place */
	double x;        /* where it begins; the widest of a parent's come first */
	struct jp_evidence evidence; /* of the value, in a view with errors */
};

/* Zero bytes are none. */
struct jp_flame_tree {
	struct jp_flame_node *nodes; /* parents before those that they call */
	size_t count, cap;
};

/* 0, or -1 when memory is short; to be released in either case. */
int jp_flame_tree_init(struct jp_flame_tree *tree, const struct jprof_view *view) jp_must_check;
void jp_flame_tree_release(struct jp_flame_tree *tree);
