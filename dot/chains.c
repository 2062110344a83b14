#include "chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { least_length = 3 };

double dot_owner_sum(const struct jprof_graph *graph, const char *owner)
{
	double sum = 0;
	for (size_t i = 0; i < jprof_graph_nodes(graph); i++)
		if (!strcmp(jprof_graph_node(graph, i)->owner, owner))
			sum += jprof_graph_node(graph, i)->flat;
	return sum;
}

/* True for functions of one owner, and of several that only call others, such as libc's start of a program. */
static bool stand_together(const struct jprof_graph *graph, const struct jprof_node *a, const struct jprof_node *b)
{
	return !strcmp(a->owner, b->owner) ||
	       (a->origin == JPROF_ORIGIN_NATIVE && b->origin == JPROF_ORIGIN_NATIVE &&
	        dot_owner_sum(graph, a->owner) == 0 && dot_owner_sum(graph, b->owner) == 0);
}

/* Arrows at a node, while chains are found. */
struct arrows {
	size_t in, out;
};

/* True if `to` can go on a chain that `from` is in: nothing comes in or goes out between them. */
static bool links(const struct jprof_graph *graph, const struct jprof_edge *e, const struct arrows *arrows)
{
	static const double same = 0.01;
	const struct jprof_node *from = jprof_graph_node(graph, e->from), *to = jprof_graph_node(graph, e->to);
	bool single = e->from != e->to && arrows[e->from].out == 1 && arrows[e->to].in == 1;
	bool call = !e->residual && !e->inlined;
	bool pass = from->flat == 0 && to->flat == 0 && fabs(from->cum - to->cum) <= same * fabs(from->cum);
	return single && call && pass && stand_together(graph, from, to);
}

/* Makes one chain of the nodes that `next` joins, unless they are too few. */
static void make_chain(struct dot_chains *chains, size_t first)
{
	size_t last = first;
	if (dot_chain_length(chains, first) < least_length) {
		for (size_t node = first, next; (next = chains->next[node]) != node; node = next)
			chains->next[node] = node;
		return;
	}
	while (chains->next[last] != last)
		last = chains->next[last];
	for (size_t node = first;; node = chains->next[node]) {
		chains->first[node] = first;
		chains->last[node] = last;
		if (node == last)
			break;
	}
}

/* `led`: by node, true if a link leads to it. */
static void link_nodes(struct dot_chains *chains, const struct jprof_graph *graph, struct arrows *arrows, bool *led)
{
	for (size_t i = 0; i < jprof_graph_edges(graph); i++) {
		arrows[jprof_graph_edge(graph, i)->from].out++;
		arrows[jprof_graph_edge(graph, i)->to].in++;
	}
	for (size_t i = 0; i < jprof_graph_edges(graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(graph, i);
		if (!links(graph, e, arrows))
			continue;
		chains->next[e->from] = e->to;
		led[e->to] = true;
	}
}

/* Nodes in a circle, which nothing else calls, stay as they are: no link leads to a first one. */
static void unlink_circles(struct dot_chains *chains, size_t count, const bool *led)
{
	for (size_t i = 0; i < count; i++) {
		size_t node = chains->next[i];
		while (led[i] && node != i && chains->next[node] != node)
			node = chains->next[node];
		if (led[i] && node == i)
			chains->next[i] = i;
	}
}

bool dot_chains_find(struct dot_chains *chains, const struct jprof_graph *graph, bool each)
{
	size_t count = jprof_graph_nodes(graph);
	struct arrows *arrows = calloc(count + 1, sizeof *arrows);
	bool *led = calloc(count + 1, sizeof *led);
	*chains = (struct dot_chains){ .first = calloc(count + 1, sizeof *chains->first),
		                       .last = calloc(count + 1, sizeof *chains->last),
		                       .next = calloc(count + 1, sizeof *chains->next) };
	bool good = arrows && led && chains->first && chains->last && chains->next;
	for (size_t i = 0; good && i < count; i++)
		chains->first[i] = chains->last[i] = chains->next[i] = i;
	if (good && !each) {
		link_nodes(chains, graph, arrows, led);
		unlink_circles(chains, count, led);
		for (size_t i = 0; i < count; i++)
			if (!led[i] && chains->next[i] != i)
				make_chain(chains, i);
	}
	free(arrows);
	free(led);
	if (!good)
		dot_chains_release(chains);
	return good;
}

void dot_chains_release(struct dot_chains *chains)
{
	free(chains->first);
	free(chains->last);
	free(chains->next);
	*chains = (struct dot_chains){ 0 };
}

size_t dot_chain_length(const struct dot_chains *chains, size_t node)
{
	size_t length = 1;
	for (; chains->next[node] != node; node = chains->next[node])
		length++;
	return length;
}
