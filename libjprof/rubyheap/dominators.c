#include "rubyheap/dominators.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/intern.h"

void jp_graph_release(struct jp_graph *graph)
{
	free(graph->first);
	free(graph->to);
	*graph = (struct jp_graph){ 0 };
}

int jp_graph_reverse(const struct jp_graph *graph, struct jp_graph *reversed)
{
	uint32_t nodes = graph->nodes, edges = graph->first[nodes];
	*reversed = (struct jp_graph){ .nodes = nodes };
	reversed->first = calloc((size_t)nodes + 2, sizeof *reversed->first);
	reversed->to = malloc((edges + (size_t)1) * sizeof *reversed->to);
	if (!reversed->first || !reversed->to) {
		jp_graph_release(reversed);
		return -1;
	}
	/* first[i + 2] counts, then first[i + 1] is where the next edge of i goes: in the end, where i + 1 begins. */
	for (uint32_t e = 0; e < edges; e++)
		reversed->first[(size_t)graph->to[e] + 2]++;
	for (uint32_t i = 1; i <= nodes; i++)
		reversed->first[i + 1] += reversed->first[i];
	for (uint32_t i = 0; i < nodes; i++)
		for (uint32_t e = graph->first[i]; e < graph->first[i + 1]; e++)
			reversed->to[reversed->first[(size_t)graph->to[e] + 1]++] = i;
	return 0;
}

/* Nodes go by their numbers in preorder of a walk in depth: the root is 0, and JP_NONE who was not reached. */
struct dominator_walk {
	uint32_t *number; /* of each node */
	uint32_t *parent; /* of each number, in the tree of the walk */
	uint32_t *semi, *label, *above, *path;
};

/* `above` holds, of the nodes on the way from the root to here, the place of the next edge. */
static uint32_t walk_in_depth(const struct jp_graph *graph, uint32_t root, struct dominator_walk *w, uint32_t *order)
{
	uint32_t reached = 1, here = 0;
	w->number[root] = 0;
	order[0] = root;
	w->parent[0] = JP_NONE;
	w->above[0] = graph->first[root];
	while (here != JP_NONE) {
		if (w->above[here] == graph->first[order[here] + 1]) {
			here = w->parent[here];
			continue;
		}
		uint32_t next = graph->to[w->above[here]++];
		if (w->number[next] != JP_NONE)
			continue;
		w->number[next] = reached;
		order[reached] = next;
		w->parent[reached] = here;
		w->above[reached] = graph->first[next];
		here = reached++;
	}
	return reached;
}

/* The number with the least semidominator on the way from `v` up to, but without, the root of its tree in the forest of
 * `above`, where `last` and those before it are no part yet. The way is short next time. */
static uint32_t least_above(struct dominator_walk *w, uint32_t v, uint32_t last)
{
	if (v < last)
		return v;
	uint32_t count = 0;
	for (; w->above[v] >= last; v = w->above[v])
		w->path[count++] = v;
	while (count) {
		uint32_t child = w->path[--count];
		if (w->semi[w->label[w->above[child]]] < w->semi[w->label[child]])
			w->label[child] = w->label[w->above[child]];
		w->above[child] = w->above[v];
		v = child;
	}
	return w->label[v];
}

static void find_semidominators(const struct jp_graph *reversed, const uint32_t *order, uint32_t reached,
                                struct dominator_walk *w)
{
	for (uint32_t v = 0; v < reached; v++) {
		w->semi[v] = w->label[v] = v;
		w->above[v] = v ? w->parent[v] : 0;
	}
	for (uint32_t v = reached - 1; v > 0; v--) {
		w->semi[v] = w->parent[v];
		for (uint32_t e = reversed->first[order[v]]; e < reversed->first[order[v] + 1]; e++) {
			uint32_t from = w->number[reversed->to[e]];
			if (from == JP_NONE)
				continue;
			uint32_t best = least_above(w, from, v + 1);
			if (w->semi[best] < w->semi[v])
				w->semi[v] = w->semi[best];
		}
	}
}

/* The nearest common ancestor, in the tree of dominators so far, of a node's parent and its semidominator. */
static void name_dominators(const struct dominator_walk *w, const uint32_t *order, uint32_t reached, uint32_t *idom)
{
	uint32_t *of_number = w->above;
	of_number[0] = 0;
	for (uint32_t v = 1; v < reached; v++) {
		uint32_t d = w->parent[v];
		while (d > w->semi[v])
			d = of_number[d];
		of_number[v] = d;
		idom[order[v]] = order[d];
	}
}

int jp_dominators(const struct jp_graph *graph, uint32_t root, struct jp_dominators *found)
{
	size_t nodes = graph->nodes, size = nodes * sizeof(uint32_t);
	struct jp_graph reversed;
	struct dominator_walk w = { .number = jp_none_array(nodes),
		                    .parent = malloc(size),
		                    .semi = malloc(size),
		                    .label = malloc(size),
		                    .above = malloc(size),
		                    .path = malloc(size) };
	*found = (struct jp_dominators){ .order = malloc(size), .idom = jp_none_array(nodes) };
	bool failed = !w.number || !w.parent || !w.semi || !w.label || !w.above || !w.path || !found->order ||
	              !found->idom || jp_graph_reverse(graph, &reversed);
	if (!failed) {
		found->reached = walk_in_depth(graph, root, &w, found->order);
		find_semidominators(&reversed, found->order, found->reached, &w);
		name_dominators(&w, found->order, found->reached, found->idom);
		jp_graph_release(&reversed);
	}
	free(w.number);
	free(w.parent);
	free(w.semi);
	free(w.label);
	free(w.above);
	free(w.path);
	return failed ? -1 : 0;
}

void jp_dominators_release(struct jp_dominators *found)
{
	free(found->order);
	free(found->idom);
	*found = (struct jp_dominators){ 0 };
}
