/* --peek=RE: each function that matches, with its callers above and its callees below, as in pprof. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/select.h"
#include "render/values.h"

static const char rule[] = "----------------------------------------------------------+-------------\n";

/* Edges by the node at one end: those of node i are list[first[i]] ... list[first[i + 1] - 1], in the graph's order. */
struct index {
	size_t *first, *list;
};

struct peek {
	const struct jprof_view *view;
	const struct jprof_report_opts *opts;
	enum jp_unit unit;
	const struct jprof_graph *graph;
	struct index callers, callees; /* edges to a node, and from it */
	size_t *matches;               /* nodes, in the order of a table */
	size_t count;
	struct jp_strbuf *out;
};

static int matches_by_value(const void *a, const void *b, void *context)
{
	const struct peek *p = context;
	const struct jprof_node *x = jprof_graph_node(p->graph, *(const size_t *)a);
	const struct jprof_node *y = jprof_graph_node(p->graph, *(const size_t *)b);
	double m = p->opts->cum ? x->cum : x->flat, n = p->opts->cum ? y->cum : y->flat;
	if (p->opts->by_change) {
		m = fabs(m);
		n = fabs(n);
	}
	return m != n ? (m > n ? -1 : 1) : strcmp(x->name, y->name);
}

static int find_matches(struct peek *p, struct jp_pattern *pattern)
{
	p->matches = calloc(jprof_graph_nodes(p->graph) + 1, sizeof *p->matches);
	for (size_t i = 0; p->matches && i < jprof_graph_nodes(p->graph); i++) {
		const struct jprof_node *node = jprof_graph_node(p->graph, i);
		if (jp_pattern_given_up(pattern))
			break;
		if ((node->flat != 0 || node->cum != 0) && (jp_pattern_found(pattern, node->name, strlen(node->name)) ||
		                                            jp_pattern_found(pattern, node->full, strlen(node->full))))
			p->matches[p->count++] = i;
	}
	if (p->count)
		qsort_r(p->matches, p->count, sizeof *p->matches, matches_by_value, p);
	if (p->opts->top && p->opts->top < p->count)
		p->count = p->opts->top;
	return p->matches ? 0 : -1;
}

static size_t end_of(const struct jprof_edge *edge, bool callers)
{
	return callers ? edge->to : edge->from;
}

/* A counting sort: first[i + 2] counts the edges of node i, then first[i + 1] is where its next one goes. */
static int index_edges(const struct jprof_graph *graph, struct index *index, bool callers)
{
	size_t nodes = jprof_graph_nodes(graph), edges = jprof_graph_edges(graph);
	index->first = calloc(nodes + 2, sizeof *index->first);
	index->list = calloc(edges + 1, sizeof *index->list);
	if (!index->first || !index->list)
		return -1;
	for (size_t i = 0; i < edges; i++)
		index->first[end_of(jprof_graph_edge(graph, i), callers) + 2]++;
	for (size_t i = 1; i < nodes + 2; i++)
		index->first[i] += index->first[i - 1];
	for (size_t i = 0; i < edges; i++)
		index->list[index->first[end_of(jprof_graph_edge(graph, i), callers) + 1]++] = i;
	return 0;
}

static void put_peek_error(const struct peek *p, const char *before, const struct jprof_range *range, double value)
{
	if (!p->view->info.errors)
		return;
	jp_strbuf_str(p->out, before);
	jp_error_put(range, value, p->unit, p->out);
}

/* The calls of a node, or those to it. */
static void put_edges(const struct peek *p, size_t node, bool callers)
{
	const struct index *index = callers ? &p->callers : &p->callees;
	/* In a difference a call may have changed by more than all calls together: shares are those of the rows. */
	struct jp_scale of_node = { .whole = jprof_graph_node(p->graph, node)->cum };
	struct jp_scale scale = p->view->info.shares == JPROF_SHARES_OF_ROWS ? of_node : jp_scale_of(p->view);
	for (size_t i = index->first[node]; i < index->first[node + 1]; i++) {
		const struct jprof_edge *edge = jprof_graph_edge(p->graph, index->list[i]);
		if (edge->value == 0)
			continue;
		jp_strbuf_printf(p->out, "%50s %6s |   ", jp_shown_value(edge->value, p->unit).text,
		                 jp_shown_percent(edge->value, scale).text);
		jp_strbuf_visible(p->out, jprof_graph_node(p->graph, callers ? edge->from : edge->to)->name);
		put_peek_error(p, "  ", &edge->range, edge->value);
		jp_strbuf_str(p->out, "\n");
	}
}

static int peek(struct peek *p, struct jp_pattern *pattern, struct jprof_error *err)
{
	if (find_matches(p, pattern) || index_edges(p->graph, &p->callers, true) ||
	    index_edges(p->graph, &p->callees, false))
		return jp_error_nomem(err);
	int rc = jp_pattern_check(pattern, "peek", err);
	if (!rc && !p->count)
		rc = jp_error_no_match(err, "peek", p->opts);
	if (rc)
		return rc;
	jp_put_total(p->view, p->opts, p->unit, p->out);
	double sum = 0;
	jp_strbuf_printf(p->out, "%s%8s %6s %6s %8s %6s %11s %6s |   callers, function, callees\n%s", rule, "flat",
	                 "flat%", "sum%", "cum", "cum%", "calls", "calls%", rule);
	for (size_t i = 0; i < p->count; i++) {
		sum += jprof_graph_node(p->graph, p->matches[i])->flat;
		put_edges(p, p->matches[i], true);
		const struct jprof_node *node = jprof_graph_node(p->graph, p->matches[i]);
		jp_put_columns(node->flat, sum, node->cum, jp_scale_of(p->view), p->unit, p->out);
		jp_strbuf_printf(p->out, "%18s | ", "");
		jp_strbuf_visible(p->out, node->name);
		put_peek_error(p, "  flat ", &node->flat_range, node->flat);
		put_peek_error(p, "  cum ", &node->cum_range, node->cum);
		jp_strbuf_str(p->out, "\n");
		put_edges(p, p->matches[i], false);
		jp_strbuf_str(p->out, rule);
		jp_strbuf_drain(p->out);
	}
	return 0;
}

int jp_render_peek(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	const struct jprof_graph_opts all = { .size = sizeof all, .whole = true, .inside = true };
	struct jp_pattern *pattern;
	struct jprof_graph *graph;
	int rc = jp_view_pattern(opts, "peek", &pattern, err);
	if (rc)
		return rc;
	rc = jprof_graph_new(view, &all, &graph, err);
	if (!rc) {
		struct peek p = {
			.view = view, .opts = opts, .unit = jp_unit_of(view, opts), .graph = graph, .out = out
		};
		rc = peek(&p, pattern, err);
		free(p.matches);
		free(p.callers.first);
		free(p.callers.list);
		free(p.callees.first);
		free(p.callees.list);
		jprof_graph_free(graph);
	}
	jp_pattern_free(pattern);
	return rc;
}
