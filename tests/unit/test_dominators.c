/* Dominators beside their definition: d dominates n if no way leads from the root to n once d is taken out. */
#include "harness.h"
#include "rubyheap/dominators.h"

#include "base/index.h"

enum { most_nodes = 14, most_edges = 60, graphs = 10000, chain = 300000 };

static uint64_t state = 20261128;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

struct drawn {
	struct jp_graph graph;
	uint32_t first[most_nodes + 1], to[most_edges];
};

static void draw_graph(struct drawn *d)
{
	uint32_t nodes = 1 + draw(most_nodes), edges = draw(most_edges), at = 0;
	d->graph = (struct jp_graph){ .nodes = nodes, .first = d->first, .to = d->to };
	for (uint32_t i = 0; i < nodes; i++) {
		d->first[i] = at;
		for (uint32_t e = draw(2 * edges / nodes + 1); e > 0 && at < most_edges; e--)
			d->to[at++] = draw(nodes);
	}
	d->first[nodes] = at;
}

/* The nodes, a bit each, that a way from the root leads to which does not pass `without`. */
static uint32_t reached_without(const struct jp_graph *graph, uint32_t without)
{
	uint32_t seen = without == 0 ? 0 : 1, before = 0;
	while (seen != before) {
		before = seen;
		for (uint32_t i = 0; i < graph->nodes; i++)
			for (uint32_t e = graph->first[i]; seen >> i & 1 && e < graph->first[i + 1]; e++)
				seen |= graph->to[e] == without ? 0 : UINT32_C(1) << graph->to[e];
	}
	return seen;
}

static int count_bits(uint32_t bits)
{
	return __builtin_popcount(bits);
}

static void check_graph(const struct jp_graph *graph, unsigned number)
{
	struct jp_dominators found;
	uint32_t dominators[most_nodes] = { 0 }, all = reached_without(graph, JP_NONE);
	assert_int_equal(jp_dominators(graph, 0, &found), 0);
	assert_int_equal(found.reached, count_bits(all));
	for (uint32_t d = 0; d < graph->nodes; d++)
		for (uint32_t n = 0; n < graph->nodes; n++)
			if (n != d && all >> n & 1 && !(reached_without(graph, d) >> n & 1))
				dominators[n] |= UINT32_C(1) << d;
	for (uint32_t n = 0; n < graph->nodes; n++) {
		uint32_t idom = found.idom[n];
		if (n == 0 || !(all >> n & 1)) {
			assert_int_equal(idom, JP_NONE);
			continue;
		}
		/* The last dominator is dominated by all others. */
		if (idom >= graph->nodes || dominators[n] != (dominators[idom] | UINT32_C(1) << idom))
			fail_msg("graph %u: node %u has dominators %x, and %u as the last of them", number, n,
			         dominators[n], idom);
	}
	for (uint32_t i = 1; i < found.reached; i++) {
		bool before = false;
		for (uint32_t j = 0; j < i; j++)
			before |= found.order[j] == found.idom[found.order[i]];
		assert_true(before);
	}
	jp_dominators_release(&found);
}

TEST(test_random_graphs)
{
	for (unsigned i = 0; i < graphs; i++) {
		struct drawn d;
		draw_graph(&d);
		check_graph(&d.graph, i);
	}
}

/* As deep as a linked list in a heap, with an edge back from each node. */
TEST(test_chain)
{
	struct jp_graph graph = { .nodes = chain };
	graph.first = malloc((chain + 1) * sizeof *graph.first);
	graph.to = malloc(2 * (size_t)chain * sizeof *graph.to);
	uint32_t at = 0;
	for (uint32_t i = 0; i < chain; i++) {
		graph.first[i] = at;
		if (i + 1 < chain)
			graph.to[at++] = i + 1;
		if (i)
			graph.to[at++] = i - 1;
	}
	graph.first[chain] = at;
	struct jp_dominators found;
	assert_int_equal(jp_dominators(&graph, 0, &found), 0);
	for (uint32_t i = 1; i < chain; i++)
		assert_int_equal(found.idom[i], i - 1);
	jp_dominators_release(&found);
	jp_graph_release(&graph);
}
