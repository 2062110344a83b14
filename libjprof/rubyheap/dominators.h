/* A directed graph, and which of its nodes every way to a node goes through. */
#pragma once

#include <stdint.h>

#include "base/macros.h"

/* The edges of node i lead to to[first[i]] up to, but without, to[first[i + 1]]. */
struct jp_graph {
	uint32_t nodes;
	uint32_t *first; /* nodes + 1 */
	uint32_t *to;
};

void jp_graph_release(struct jp_graph *graph);

/* The graph with all edges turned round. -1 when memory is short. */
int jp_graph_reverse(const struct jp_graph *graph, struct jp_graph *reversed) jp_must_check;

/* The tree of dominators: node d is the immediate dominator of n if every way from the root to n goes through d, and d
 * is the last such node before n. */
struct jp_dominators {
	uint32_t reached; /* nodes to which a way leads, the root included */
	uint32_t *order;  /* these nodes: each behind its immediate dominator, the root first */
	uint32_t *idom;   /* of each node; JP_NONE: of the root, and of nodes to which no way leads */
};

/* By the semi-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005, 2.3).
 * Release in any case; -1 when memory is short. */
int jp_dominators(const struct jp_graph *graph, uint32_t root, struct jp_dominators *found) jp_must_check;
void jp_dominators_release(struct jp_dominators *found);
