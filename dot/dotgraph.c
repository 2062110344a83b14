#include "dotgraph.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dottext.h"
#include "ids.h"
#include "legend.h"
#include "paint.h"

#define FONT "DejaVu Sans"

/* A graph under construction. */
struct build {
	const struct dot_plan *plan;
	const struct jprof_graph *graph;
	const struct dot_opts *opts;
	bool tooltips;
	bool failed; /* memory was short */
	Agraph_t *g;
	Agnode_t **nodes;
	struct calls *calls; /* by node */
};

/* Of a node: its callers and what it calls, and how many of these are leaves, which have no other caller and call
 * nothing. */
struct calls {
	size_t in, out, leaves, placed;
};

/* A text being written. */
struct cell_text {
	FILE *out;
	char *bytes;
	size_t len;
};

static FILE *text_open(struct build *b, struct cell_text *t)
{
	*t = (struct cell_text){ 0 };
	t->out = open_memstream(&t->bytes, &t->len);
	b->failed = b->failed || !t->out;
	return t->out;
}

/* Sets an attribute to what was written and frees it. HTML-like labels are marked as such, all else is not. */
static void text_set(struct build *b, struct cell_text *t, void *object, const char *attribute, bool html)
{
	bool good = !ferror(t->out);
	Agsym_t *symbol = agattr(b->g, AGTYPE(object) == AGINEDGE ? AGEDGE : AGTYPE(object), (char *)attribute, NULL);
	if (fclose(t->out) || !good || !symbol) {
		b->failed = true;
	} else if (html) {
		char *marked = agstrdup_html(b->g, t->bytes); /* the graph's, freed with it */
		b->failed |= !marked || agxset(object, symbol, marked);
	} else {
		b->failed |= agxset(object, symbol, t->bytes) != 0;
	}
	free(t->bytes);
}

static void __attribute__((format(printf, 4, 5)))
set(struct build *b, void *object, const char *attribute, const char *fmt, ...)
{
	struct cell_text t;
	va_list args;
	if (!text_open(b, &t))
		return;
	va_start(args, fmt);
	vfprintf(t.out, fmt, args);
	va_end(args);
	text_set(b, &t, object, attribute, false);
}

/* ---- What is said of nodes and edges ---- */

static void put_amount(FILE *out, double value, const struct jprof_graph_info *info, const struct dot_opts *opts)
{
	char text[dot_cell];
	bool of_base = opts->view->shares == JPROF_SHARES_OF_BASE;
	double whole = of_base ? opts->view->percent_of : info->difference ? 0 : info->total;
	(info->difference ? dot_change : dot_value)(text, value, opts);
	fputs(text, out);
	if (of_base && fabs(value) > fabs(whole))
		fprintf(out, " (%.1fx)", value / whole);
	else if (whole != 0)
		fprintf(out, " (%.1f%%)", value * 100 / whole);
}

static void put_error(FILE *out, const struct jprof_range *range, const struct dot_opts *opts)
{
	char text[dot_cell];
	if (!opts->view->errors)
		return;
	dot_value(text, range->error, opts);
	fprintf(out, isnan(range->error) ? " (error not known)" : " ±%s%s", text,
	        range->within_error  ? " (within error)"
	        : range->few_samples ? " (few samples)"
	                             : "");
}

static void put_range(FILE *out, const struct jprof_range *range, const struct dot_opts *opts)
{
	char low[dot_cell], high[dot_cell];
	put_error(out, range, opts);
	if (!opts->view->errors || isnan(range->error))
		return;
	dot_value(low, range->low, opts);
	dot_value(high, range->high, opts);
	fprintf(out, ", 95 %% between %s and %s", low, high);
}

static void describe_place(FILE *out, const struct jprof_node *n, dot_put_fn *put, const char *end)
{
	if (n->inlined)
		fputs(", inlined", out);
	fputs(end, out);
	if (!n->file)
		return;
	put(out, n->file);
	if (n->line)
		fprintf(out, n->last_line > n->line ? ":%u-%u" : ":%u", n->line, n->last_line);
	fputs(end, out);
}

void dot_describe_node(FILE *out, const struct dot_plan *plan, size_t i, dot_put_fn *put, const char *end)
{
	const struct jprof_graph_info *info = jprof_graph_info(plan->graph);
	const struct jprof_node *n = jprof_graph_node(plan->graph, i);
	const size_t *next = plan->chains.next;
	put(out, n->full);
	if (next[i] == i)
		describe_place(out, n, put, end);
	else
		fputs(end, out);
	for (size_t at = i; next[at] != at; at = next[at]) {
		fputs("calls ", out);
		put(out, jprof_graph_node(plan->graph, next[at])->full);
		fputs(end, out);
	}
	put(out, *n->object ? n->object : "outside all mappings");
	fprintf(out, "%sitself: ", end);
	put_amount(out, n->flat, info, plan->opts);
	put_range(out, &n->flat_range, plan->opts);
	fprintf(out, "%swith what it calls: ", end);
	put_amount(out, n->cum, info, plan->opts);
	put_range(out, &n->cum_range, plan->opts);
}

void dot_describe_edge(FILE *out, const struct dot_plan *plan, size_t i, dot_put_fn *put, const char *end)
{
	const struct jprof_edge *e = jprof_graph_edge(plan->graph, i);
	put(out, jprof_graph_node(plan->graph, e->from)->name);
	fputs(e->residual ? " ... " : e->inlined ? " with, inlined, " : " calls ", out);
	put(out, jprof_graph_node(plan->graph, e->to)->name);
	fputs(end, out);
	put_amount(out, e->value, jprof_graph_info(plan->graph), plan->opts);
	put_range(out, &e->range, plan->opts);
}

/* ---- Nodes ---- */

/* jeprof's: the area of the type goes with the flat share. */
static double font_size(const struct jprof_node *n, const struct jprof_graph_info *info)
{
	return info->scale > 0 ? 8 + 50 * sqrt(fabs(n->flat) / info->scale) : 8;
}

/* The name without the table's mark, for which there is a word below. */
static size_t name_length(const struct jprof_node *n)
{
	static const char mark[] = " (inline)";
	size_t len = strlen(n->name), tail = sizeof mark - 1;
	return n->inlined && len > tail && !strcmp(n->name + len - tail, mark) ? len - tail : len;
}

/* Big type makes wide boxes, and a long name a big one: it is broken earlier, and its type is smaller. False when
 * memory is short. */
static bool put_node_name(FILE *out, const struct jprof_node *n, double size)
{
	enum { head = 9, tail = 6 }; /* lines */
	char *name = strndup(n->name, name_length(n)), *rest = name;
	double type = fmax(8, size * fmin(1, sqrt(48.0 / (double)name_length(n))));
	size_t columns = (size_t)fmax(16, fmin(28, 320 / type));
	fprintf(out, "<font point-size=\"%.1f\"><b>", type);
	for (int line = 0; rest && *rest; line++) {
		size_t len = dot_line(rest, columns), left = strlen(rest);
		dot_put_html(out, rest, len);
		rest += len;
		if (line == head && left > columns * (tail + 2)) { /* its middle is in the tooltip */
			fputs(" ...", out);
			rest += left - len - columns * tail;
			while (((unsigned char)*rest & 0xc0) == 0x80)
				rest++;
		}
		if (*rest)
			fputs("<br/>", out);
	}
	fputs("</b></font><br/>", out);
	bool good = name;
	free(name);
	return good;
}

/* Whether there is a frame around the nodes of its owner: code that only calls others, such as libc's start and Ruby's
 * own methods, has none. */
static bool is_framed(const struct build *b, const struct jprof_node *n)
{
	return b->opts->cluster && dot_owner_sum(b->graph, n->owner) != 0;
}

static void put_owner(FILE *out, const struct build *b, size_t i, double size)
{
	const struct jprof_node *n = jprof_graph_node(b->graph, i);
	const char *last = jprof_graph_node(b->graph, b->plan->chains.last[i])->owner;
	bool said = !strncmp(n->name, n->owner, strlen(n->owner)); /* "nokogiri 1.18.2 lib/nokogiri/xml.rb:42" */
	bool owner = !strcmp(n->owner, last) && !is_framed(b, n) && b->opts->view->granularity < JPROF_BY_KIND &&
	             b->opts->view->granularity != JPROF_BY_LIBRARY && !said;
	if (!owner && !n->inlined)
		return;
	fprintf(out, "<font point-size=\"%.1f\" color=\"%s\">", fmax(7.5, size * 0.55), dot_origin(n->origin).color);
	if (n->inlined)
		fprintf(out, "inlined%s", owner ? ", " : "");
	if (owner)
		dot_put_html(out, n->owner, strlen(n->owner));
	fputs("</font><br/>", out);
}

static void put_label(FILE *out, struct build *b, size_t i, double size)
{
	const struct jprof_graph_info *info = jprof_graph_info(b->graph);
	const struct jprof_node *n = jprof_graph_node(b->graph, i);
	const struct dot_chains *chains = &b->plan->chains;
	b->failed |= !put_node_name(out, n, size);
	if (chains->last[i] != i) {
		fprintf(out, "%zu between<br/>", dot_chain_length(chains, i) - 2);
		b->failed |= !put_node_name(out, jprof_graph_node(b->graph, chains->last[i]), size);
	}
	put_owner(out, b, i, size);
	if (n->flat != 0 || n->cum == 0) {
		put_amount(out, n->flat, info, b->opts);
		put_error(out, &n->flat_range, b->opts);
	}
	if (n->flat == n->cum)
		return;
	fputs(n->flat != 0 ? "<br/>of " : "0 of ", out);
	put_amount(out, n->cum, info, b->opts);
	put_error(out, &n->cum_range, b->opts);
}

static void draw_node(struct build *b, size_t i)
{
	const struct jprof_node *n = jprof_graph_node(b->graph, i);
	const struct jprof_graph_info *info = jprof_graph_info(b->graph);
	struct dot_paint paint = dot_paint(n->flat, info), frame = dot_paint(n->cum, info);
	double size = font_size(n, info);
	char name[dot_cell], number[dot_cell];
	struct cell_text t;
	snprintf(name, sizeof name, "N%zu", i + 1);
	snprintf(number, sizeof number, " n%zu", i + 1);
	b->nodes[i] = agnode(b->g, name, 1);
	if (!b->nodes[i] || !text_open(b, &t)) {
		b->failed = true;
		return;
	}
	put_label(t.out, b, i, size);
	text_set(b, &t, b->nodes[i], "label", true);
	set(b, b->nodes[i], "fontsize", "%.1f", size);
	set(b, b->nodes[i], "fillcolor", "%s", paint.fill);
	set(b, b->nodes[i], "color", "%s", frame.line);
	set(b, b->nodes[i], "class", "%s of-%s %s%s%s%s", paint.class, frame.class, n->inlined ? "inlined" : "own",
	    n->origin ? " " : "", n->origin ? dot_origin(n->origin).class : "", b->tooltips ? "" : number);
	if (n->inlined)
		set(b, b->nodes[i], "style", "filled,dashed");
	if (b->tooltips && text_open(b, &t)) {
		dot_describe_node(t.out, b->plan, i, dot_put_escaped, "\\n");
		text_set(b, &t, b->nodes[i], "tooltip", false);
	}
}

/* ---- Edges ---- */

static void count_calls(struct build *b)
{
	const size_t *first = b->plan->chains.first;
	for (size_t i = 0; i < jprof_graph_edges(b->graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(b->graph, i);
		b->calls[first[e->from]].out++;
		b->calls[first[e->to]].in++;
	}
	for (size_t i = 0; i < jprof_graph_edges(b->graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(b->graph, i);
		const struct calls *to = &b->calls[first[e->to]];
		b->calls[first[e->from]].leaves += to->in == 1 && !to->out;
	}
}

/* Many leaves of one node stand in three rows, else they would make the picture as wide as all of them together. */
static void place_leaf(struct build *b, void *edge, size_t from, size_t to)
{
	enum { rows = 3, few = 3 };
	struct calls *calls = &b->calls[from];
	if (b->calls[to].in == 1 && !b->calls[to].out && calls->leaves > few)
		set(b, edge, "minlen", "%zu", 1 + calls->placed++ % rows);
}

static void add_edge(struct build *b, size_t i)
{
	const struct jprof_edge *e = jprof_graph_edge(b->graph, i);
	const struct jprof_graph_info *info = jprof_graph_info(b->graph);
	const struct dot_paint paint = dot_paint(e->value, info);
	const size_t *first = b->plan->chains.first, from = first[e->from], to = first[e->to];
	if (b->plan->chains.next[e->from] == e->to && e->from != e->to)
		return;
	double share = info->scale > 0 ? fabs(e->value) / info->scale : 0;
	Agedge_t *edge = agedge(b->g, b->nodes[from], b->nodes[to], NULL, 1);
	char value[dot_cell], ends[dot_cell];
	struct cell_text t;
	snprintf(ends, sizeof ends, " from-%zu to-%zu", from + 1, to + 1);
	if (!edge) {
		b->failed = true;
		return;
	}
	(info->difference ? dot_change : dot_value)(value, e->value, b->opts);
	set(b, edge, "label", " %s ", value);
	set(b, edge, "weight", "%.0f", trunc(fmin(pow(fabs(e->value), 0.7), 100000)));
	set(b, edge, "penwidth", "%.2f", fmax(1, 2 * fmin(1, 3 * share)));
	set(b, edge, "color", "%s", paint.line);
	set(b, edge, "class", "%s%s%s", paint.class, e->inlined ? " inlined" : "", b->tooltips ? "" : ends);
	place_leaf(b, edge, from, to);
	if (e->residual)
		set(b, edge, "style", "dashed");
	if (e->inlined)
		set(b, edge, "arrowhead", "empty");
	if (b->tooltips && text_open(b, &t)) {
		dot_describe_edge(t.out, b->plan, i, dot_put_escaped, "\\n");
		text_set(b, &t, edge, "tooltip", false);
	}
}

/* ---- Frames around the nodes of one library ---- */

/* The value of an owner's nodes, itself. */
static void put_cluster_label(FILE *out, const struct build *b, const char *owner)
{
	dot_put_escaped(out, owner);
	fputs(": ", out);
	put_amount(out, dot_owner_sum(b->graph, owner), jprof_graph_info(b->graph), b->opts);
}

static Agraph_t *cluster_of(struct build *b, size_t number)
{
	const struct jprof_node *n = jprof_graph_node(b->graph, number);
	char name[dot_cell];
	struct cell_text t;
	snprintf(name, sizeof name, "cluster_%zu", number);
	Agraph_t *cluster = agsubg(b->g, name, 1);
	if (!cluster || !text_open(b, &t)) {
		b->failed = true;
		return cluster;
	}
	put_cluster_label(t.out, b, n->owner);
	text_set(b, &t, cluster, "label", false);
	set(b, cluster, "style", "rounded,dashed");
	set(b, cluster, "color", "%s", n->origin ? dot_origin(n->origin).color : "#8f8a80");
	set(b, cluster, "fontsize", "%.0f", 14 * dot_type_scale(b->graph));
	return cluster;
}

static size_t first_of_owner(const struct jprof_graph *graph, size_t i)
{
	const char *owner = jprof_graph_node(graph, i)->owner;
	size_t first = 0;
	while (strcmp(jprof_graph_node(graph, first)->owner, owner))
		first++;
	return first;
}

static void add_clusters(struct build *b)
{
	size_t count = jprof_graph_nodes(b->graph);
	Agraph_t **clusters = calloc(count + 1, sizeof *clusters);
	b->failed |= !clusters;
	for (size_t i = 0; !b->failed && i < count; i++) {
		size_t first = first_of_owner(b->graph, i);
		if (!b->nodes[i] || !is_framed(b, jprof_graph_node(b->graph, i)))
			continue;
		if (!clusters[first])
			clusters[first] = cluster_of(b, first);
		if (clusters[first])
			agsubnode(clusters[first], b->nodes[i], 1);
	}
	free(clusters);
}

/* ---- The graph ---- */

/* Defaults; what is not named here cannot be set. */
static const struct {
	int kind;
	char *name, *value;
} attributes[] = {
	{ AGRAPH, "label", "" },           { AGRAPH, "labelloc", "t" },
	{ AGRAPH, "labeljust", "l" },      { AGRAPH, "fontname", FONT },
	{ AGRAPH, "fontsize", "11" },      { AGRAPH, "bgcolor", "white" },
	{ AGRAPH, "linelength", "0" }, /* of DOT: no string is broken in two */
	{ AGRAPH, "style", "" },           { AGRAPH, "color", "black" },
	{ AGRAPH, "nodesep", "0.2" },      { AGRAPH, "ranksep", "0.45" },
	{ AGNODE, "label", "" },           { AGNODE, "shape", "box" },
	{ AGNODE, "style", "filled" },     { AGNODE, "fontname", FONT },
	{ AGNODE, "fontsize", "8" },       { AGNODE, "fontcolor", "#1c1b19" },
	{ AGNODE, "fillcolor", "white" },  { AGNODE, "color", "black" },
	{ AGNODE, "class", "" },           { AGNODE, "width", "0.375" },
	{ AGNODE, "height", "0.25" },      { AGNODE, "margin", "0.11,0.06" },
	{ AGEDGE, "label", "" },           { AGEDGE, "fontname", FONT },
	{ AGEDGE, "fontsize", "9" },       { AGEDGE, "fontcolor", "#3d3a35" },
	{ AGEDGE, "weight", "1" },         { AGEDGE, "penwidth", "1" },
	{ AGEDGE, "color", "black" },      { AGEDGE, "style", "" },
	{ AGEDGE, "arrowhead", "normal" }, { AGEDGE, "arrowsize", "0.7" },
	{ AGEDGE, "class", "" },           { AGEDGE, "minlen", "1" },
};

static void declare(struct build *b)
{
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		b->failed |= !agattr(b->g, attributes[i].kind, attributes[i].name, attributes[i].value);
	if (b->tooltips)
		b->failed |= !agattr(b->g, AGNODE, "tooltip", "") || !agattr(b->g, AGEDGE, "tooltip", "");
}

/* Where each box has many arrows, Graphviz takes minutes to place and to straighten them, and as long to bend them
 * around boxes. It gets fewer turns for the one, and draws straight lines instead of the other. */
static void bound_layout(struct build *b)
{
	if (agnedges(b->g) > 2 * agnnodes(b->g))
		b->failed |= !agattr(b->g, AGRAPH, "mclimit", "0.1") || !agattr(b->g, AGRAPH, "nslimit", "0.2") ||
		             !agattr(b->g, AGRAPH, "splines", "line");
}

static void fill_graph(struct build *b)
{
	struct cell_text t;
	declare(b);
	if (b->failed || !text_open(b, &t))
		return;
	dot_put_legend(t.out, b->graph, b->opts);
	text_set(b, &t, b->g, "label", true);
	for (size_t i = 0; !b->failed && i < jprof_graph_nodes(b->graph); i++)
		if (b->plan->chains.first[i] == i)
			draw_node(b, i);
	count_calls(b);
	for (size_t i = 0; !b->failed && i < jprof_graph_edges(b->graph); i++)
		add_edge(b, i);
	if (!b->failed && b->opts->cluster)
		add_clusters(b);
	if (!b->failed)
		bound_layout(b);
}

Agraph_t *dot_build(const struct dot_plan *plan, bool tooltips)
{
	struct build b = { .plan = plan, .graph = plan->graph, .opts = plan->opts, .tooltips = tooltips };
	struct cell_text title;
	if (!text_open(&b, &title))
		return NULL;
	fprintf(title.out, "%s; ", b.opts->title);
	dot_put_headline(title.out, b.graph, b.opts);
	bool good = !fclose(title.out);
	b.nodes = calloc(jprof_graph_nodes(b.graph) + 1, sizeof *b.nodes);
	b.calls = calloc(jprof_graph_nodes(b.graph) + 1, sizeof *b.calls);
	b.g = good && b.nodes && b.calls ? agopen(title.bytes, Agdirected, &dot_ids) : NULL;
	if (b.g)
		fill_graph(&b);
	free(title.bytes);
	free(b.nodes);
	free(b.calls);
	if (b.g && b.failed) {
		agclose(b.g);
		return NULL;
	}
	return b.g;
}
