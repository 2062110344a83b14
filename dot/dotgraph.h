/* A jprof_graph as a graph of libcgraph, with all that Graphviz needs to draw it. */
#pragma once

#include <cgraph.h>
#include <stdio.h>

#include "chains.h"
#include "dot.h"

/* A picture that is asked for. */
struct dot_plan {
	const struct jprof_graph *graph;
	const struct dot_opts *opts;
	struct dot_chains chains; /* each is drawn as its first node, and arrows inside of it are not */
};

/* Nodes are called N1, N2 ... in the order of the graph; with `tooltips` they and edges have
 * them as attributes. NULL when memory is short; else for agclose(). */
Agraph_t *dot_build(const struct dot_plan *plan, bool tooltips);

/* What there is to say of a node and its chain, and of an edge, line by line; `end` ends each but the last line, `put`
 * writes names. */
typedef void dot_put_fn(FILE *out, const char *s);
void dot_describe_node(FILE *out, const struct dot_plan *plan, size_t i, dot_put_fn *put, const char *end);
void dot_describe_edge(FILE *out, const struct dot_plan *plan, size_t i, dot_put_fn *put, const char *end);
