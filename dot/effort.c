#include "effort.h"

#include <math.h>
#include <stdlib.h>

/* Seen with Graphviz 2.43: with values up to `easy` ranks, and without them up to `most`, layout and drawing take less
 * than four seconds on one core of 2020; twice as many ranks take up to four times as long. */
enum { easy = 1500, most = 8000 };

/* An iteration of the network simplex costs about 0.1 us for each of its nodes: two seconds of them. */
static const double simplex_steps = 2e7;

struct planning {
	const struct jprof_graph *graph;
	struct dot_effort *effort;
	size_t node_count, edge_count;
	size_t *first, *next;  /* edges out of a node, in their order: 1 + the edge, 0 at the end */
	size_t *order, placed; /* nodes, callers first, filled from the end */
	size_t *rank;
	char *state; /* of a node: not seen, its callees being looked at, done */
	uint32_t *part;
};

enum { UNSEEN, OPEN, DONE };

static int planning_init(struct planning *p)
{
	p->node_count = jprof_graph_nodes(p->graph);
	p->edge_count = jprof_graph_edges(p->graph);
	p->first = calloc(p->node_count + 1, sizeof *p->first);
	p->next = calloc(p->edge_count + 1, sizeof *p->next);
	p->order = calloc(p->node_count + 1, sizeof *p->order);
	p->rank = calloc(p->node_count + 1, sizeof *p->rank);
	p->state = calloc(p->node_count + 1, 1);
	p->part = calloc(p->node_count + 1, sizeof *p->part);
	p->effort->arrows = calloc(p->edge_count + 1, sizeof *p->effort->arrows);
	if (!p->first || !p->next || !p->order || !p->rank || !p->state || !p->part || !p->effort->arrows)
		return -1;
	for (size_t i = p->edge_count; i-- > 0;) {
		size_t from = jprof_graph_edge(p->graph, i)->from;
		p->next[i] = p->first[from];
		p->first[from] = i + 1;
	}
	return 0;
}

static void planning_release(struct planning *p)
{
	free(p->first);
	free(p->next);
	free(p->order);
	free(p->rank);
	free(p->state);
	free(p->part);
}

/* ---- How many ranks arrows span ---- */

/* As Graphviz breaks circles: depth first, in the order of nodes and edges. It recurses as deep. */
static void put_in_order(struct planning *p, size_t node)
{
	p->state[node] = OPEN;
	for (size_t e = p->first[node]; e; e = p->next[e - 1]) {
		size_t to = jprof_graph_edge(p->graph, e - 1)->to;
		if (p->effort->arrows[e - 1] && p->state[to] == UNSEEN)
			put_in_order(p, to);
	}
	p->state[node] = DONE;
	p->order[--p->placed] = node;
}

/* The order has a caller before what it calls, but for arrows that close a circle: these lead back in it. */
static size_t ranks_spanned(struct planning *p)
{
	size_t sum = 0;
	for (size_t i = 0; i < p->node_count; i++) {
		p->state[i] = UNSEEN;
		p->rank[i] = 0;
	}
	p->placed = p->node_count;
	for (size_t i = 0; i < p->node_count; i++)
		if (p->state[i] == UNSEEN)
			put_in_order(p, i);
	for (size_t i = 0; i < p->node_count; i++) {
		size_t node = p->order[i];
		p->state[node] = OPEN; /* its rank is known now */
		for (size_t e = p->first[node]; e; e = p->next[e - 1]) {
			size_t to = jprof_graph_edge(p->graph, e - 1)->to;
			if (p->effort->arrows[e - 1] && p->state[to] == DONE && p->rank[to] <= p->rank[node])
				p->rank[to] = p->rank[node] + 1;
		}
	}
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct jprof_edge *e = jprof_graph_edge(p->graph, i);
		size_t from = p->rank[e->from], to = p->rank[e->to];
		if (p->effort->arrows[i])
			sum += from < to ? to - from : from - to;
	}
	return sum;
}

/* ---- Which are drawn ---- */

static uint32_t part_root(struct planning *p, uint32_t node)
{
	while (p->part[node] != node)
		node = p->part[node] = p->part[p->part[node]];
	return node;
}

/* The `count` biggest, and those that hold the graph together. */
static void choose_arrows(struct planning *p, size_t count)
{
	struct dot_effort *effort = p->effort;
	effort->arrow_count = 0;
	for (uint32_t i = 0; i < p->node_count; i++)
		p->part[i] = i;
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct jprof_edge *e = jprof_graph_edge(p->graph, i);
		uint32_t from = part_root(p, (uint32_t)e->from), to = part_root(p, (uint32_t)e->to);
		effort->arrows[i] = i < count || from != to;
		p->part[from] = to;
		effort->arrow_count += effort->arrows[i];
	}
	effort->left_out = p->edge_count - effort->arrow_count;
	effort->ranks = ranks_spanned(p);
}

int dot_effort_make(const struct jprof_graph *graph, bool all, struct dot_effort *effort)
{
	struct planning p = { .graph = graph, .effort = effort };
	*effort = (struct dot_effort){ 0 };
	if (planning_init(&p)) {
		planning_release(&p);
		dot_effort_release(effort);
		return -1;
	}
	size_t count = p.edge_count;
	choose_arrows(&p, count);
	while (!all && count && effort->ranks > most) {
		count -= count / 8 + 1;
		choose_arrows(&p, count);
	}
	effort->values = all || effort->ranks <= easy;
	effort->mclimit = effort->ranks <= easy ? 1 : 0.3;
	size_t simplex_nodes = p.node_count + effort->ranks * (effort->values ? 4 : 2);
	effort->nslimit = simplex_steps / (double)(simplex_nodes + 1) / (double)(p.node_count + 1);
	planning_release(&p);
	return 0;
}

void dot_effort_release(struct dot_effort *effort)
{
	free(effort->arrows);
	effort->arrows = NULL;
}

bool dot_effort_takes_long(const struct dot_effort *effort)
{
	return effort->ranks > easy;
}
