/* The call graph: rows as nodes, and what passes from one to the next as edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "ops/owner.h"
#include "ops/ranges.h"
#include "render/render.h"
#include "render/rows.h"

struct jprof_graph {
	struct jp_intern names; /* of nodes, by row */
	struct jp_arena labels;
	struct jprof_graph_info info;
	struct jprof_node *nodes;
	size_t node_count;
	struct jprof_edge *edges;
	size_t edge_count, edge_cap;
};

/* A row before it becomes a node. */
struct tally {
	double flat, cum;
	uint32_t seen;                /* 1 + the last sample that counted it */
	uint32_t node;                /* its place in the list of nodes; JP_NONE: dropped */
	struct jp_evidence *evidence; /* of flat and of cum, if errors are asked for */
};

/* An edge's marks while samples are added up. */
struct mark {
	uint32_t seen;   /* 1 + the last sample that counted it */
	uint32_t direct; /* likewise: that counted it without a dropped node between */
	struct jp_evidence evidence;
};

struct build {
	const struct jprof_profile *profile;
	const struct jprof_view_opts *view;
	struct jprof_graph_opts opts;
	struct jprof_graph *graph;
	struct jp_rows rows;
	struct tally *tallies; /* by row */
	size_t tally_count, tally_cap;
	struct jp_intern edge_keys; /* pairs of nodes */
	struct mark *marks;
	size_t mark_cap;
	struct jp_path path;
	struct jp_arena arena;
};

/* ---- Nodes: the values of all rows ---- */

static int tally_rows(struct build *b)
{
	while (b->tally_count < b->rows.names.count) {
		if (jp_array_push(b->tallies, b->tally_count, b->tally_cap))
			return -1;
		struct tally *t = &b->tallies[b->tally_count++];
		*t = (struct tally){ .node = JP_NONE };
		if (b->view->errors && !(t->evidence = jp_arena_alloc(&b->arena, 2 * sizeof *t->evidence)))
			return -1;
	}
	return 0;
}

static void add_to_rows(struct build *b, uint32_t id, double value, const struct jp_evidence *evidence)
{
	for (size_t i = 0; i < b->path.count; i++) {
		struct tally *t = &b->tallies[b->path.rows[i]];
		if (!i)
			t->flat += value;
		if (!i && t->evidence)
			jp_evidence_add(&t->evidence[0], evidence);
		if (t->seen == id + 1)
			continue;
		t->seen = id + 1;
		t->cum += value;
		if (t->evidence)
			jp_evidence_add(&t->evidence[1], evidence);
	}
}

typedef int add_fn(struct build *b, uint32_t id, double value, const struct jp_evidence *evidence);

static int add_nodes(struct build *b, uint32_t id, double value, const struct jp_evidence *evidence)
{
	if (tally_rows(b))
		return -1;
	add_to_rows(b, id, value, evidence);
	return 0;
}

/* Calls `add` for each sample of the view that holds something, with its rows in b->path. */
static int each_sample(struct build *b, add_fn *add)
{
	int rc = 0;
	for (uint32_t i = 0; !rc && i < jp_sample_count(b->profile); i++) {
		const struct jp_sample *sample = &b->profile->samples[i];
		double value = sample->value[b->view->counter];
		struct jp_evidence evidence = { 0 };
		size_t depth;
		const uint32_t *stack = jp_stack_get(b->profile, sample->stack, &depth);
		if (value == 0 || !jp_in_view(b->profile, b->view, sample))
			continue;
		if (b->view->errors)
			evidence = jp_sample_evidence(b->profile, sample, b->view->counter);
		rc = jp_rows_path(&b->rows, stack, depth, &b->path) ? -1 : add(b, i, value, &evidence);
	}
	return rc;
}

/* ---- Nodes: which stay ---- */

static int by_cum(const void *m, const void *n, void *context)
{
	const struct build *b = context;
	uint32_t x = *(const uint32_t *)m, y = *(const uint32_t *)n;
	double first = fabs(b->tallies[x].cum), second = fabs(b->tallies[y].cum);
	if (first != second)
		return first > second ? -1 : 1;
	return strcmp(jp_intern_get(&b->rows.names, x), jp_intern_get(&b->rows.names, y));
}

static const char *owner_label(struct build *b, uint32_t object)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) label = { 0 };
	jp_object_label(b->profile, object, &label);
	return label.failed ? NULL : jp_arena_dup(&b->graph->labels, label.text ? label.text : "", label.len);
}

/* What is known of a row's function; by library there is none. */
static void describe(const struct build *b, const struct jp_row_origin *origin, struct jprof_node *node)
{
	const struct jprof_profile *p = b->profile;
	node->object = jp_string(p, p->objects[origin->object].path);
	node->full = node->name;
	if (origin->frame == JP_NONE)
		return;
	const struct jp_frame *frame = &p->frames[origin->frame];
	const struct jp_function *f = &p->functions[frame->function];
	node->file = f->file == JP_NONE ? NULL : jp_string(p, f->file);
	if (b->view->granularity == JPROF_BY_FILE)
		return;
	node->full = jp_string(p, f->name);
	node->inlined = frame->inlined;
}

static int add_node(struct build *b, uint32_t row)
{
	struct tally *t = &b->tallies[row];
	struct jprof_node *node = &b->graph->nodes[b->graph->node_count];
	*node = (struct jprof_node){
		.name = jp_intern_get(&b->rows.names, row),
		.owner = owner_label(b, b->rows.origins[row].object),
		.flat = t->flat,
		.cum = t->cum,
	};
	describe(b, &b->rows.origins[row], node);
	if (t->evidence) {
		node->flat_range = jp_evidence_range(&b->profile->lineage, &t->evidence[0], b->view->counter);
		node->cum_range = jp_evidence_range(&b->profile->lineage, &t->evidence[1], b->view->counter);
	}
	t->node = (uint32_t)b->graph->node_count++;
	return node->owner ? 0 : -1;
}

static double limit(double fraction, double usual, double scale)
{
	return fraction < 0 ? -1 : trunc((fraction > 0 ? fraction : usual) * scale);
}

static void sum_up(struct build *b)
{
	struct jprof_graph_info *info = &b->graph->info;
	for (size_t i = 0; i < b->tally_count; i++) {
		info->total += b->tallies[i].flat;
		info->scale += fabs(b->tallies[i].flat);
	}
	info->difference = b->profile->lineage.subtracted;
	info->nodelimit = b->opts.whole ? -1 : limit(b->opts.nodefraction, 0.005, info->scale);
	info->edgelimit = b->opts.whole ? -1 : limit(b->opts.edgefraction, 0.001, info->scale);
}

/* How many of the sorted rows become nodes. */
static size_t count_kept(struct build *b, const uint32_t *order, size_t count)
{
	struct jprof_graph_info *info = &b->graph->info;
	size_t most = b->opts.whole ? SIZE_MAX : b->opts.nodecount ? b->opts.nodecount : 80;
	size_t kept = count < most ? count : most;
	while (kept && fabs(b->tallies[order[kept - 1]].cum) <= info->nodelimit)
		kept--;
	info->dropped_nodes = count - kept;
	for (size_t i = kept; i < count; i++)
		info->dropped_flat += fabs(b->tallies[order[i]].flat);
	return kept;
}

/* Ranges of lines, from all frames of the view that belong to nodes. */
static void find_lines(struct build *b)
{
	const struct jp_rows *rows = &b->rows;
	for (size_t i = 0; i < b->profile->frame_count; i++) {
		uint32_t row = rows->of_frame[i];
		uint32_t at = row == JP_NONE ? JP_NONE : b->tallies[row].node;
		const struct jp_frame *frame = &b->profile->frames[i];
		uint32_t file = b->profile->functions[frame->function].file;
		if (at == JP_NONE || file == JP_NONE || !frame->line)
			continue;
		struct jprof_node *node = &b->graph->nodes[at];
		if (!node->file || strcmp(node->file, jp_string(b->profile, file)))
			continue;
		if (!node->line || frame->line < node->line)
			node->line = frame->line;
		if (frame->line > node->last_line)
			node->last_line = frame->line;
	}
}

/* Rows of only zeros are no nodes. `order` has room for all. */
static int choose_nodes(struct build *b, uint32_t *order)
{
	size_t count = 0;
	for (uint32_t row = 0; row < b->tally_count; row++)
		if (b->tallies[row].flat != 0 || b->tallies[row].cum != 0)
			order[count++] = row;
	qsort_r(order, count, sizeof *order, by_cum, b);
	size_t kept = count_kept(b, order, count);
	b->graph->nodes = calloc(kept + 1, sizeof *b->graph->nodes);
	if (!b->graph->nodes)
		return -1;
	for (size_t i = 0; i < kept; i++)
		if (add_node(b, order[i]))
			return -1;
	return 0;
}

static int make_nodes(struct build *b)
{
	uint32_t *order = calloc(b->tally_count + 1, sizeof *order);
	sum_up(b);
	int rc = order ? choose_nodes(b, order) : -1;
	free(order);
	if (!rc)
		find_lines(b);
	return rc;
}

/* ---- Edges ---- */

static uint32_t edge_between(struct build *b, uint32_t from, uint32_t to)
{
	struct jprof_graph *g = b->graph;
	uint32_t ends[2] = { from, to }, known = b->edge_keys.count;
	uint32_t id = jp_intern(&b->edge_keys, ends, sizeof ends);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_push(g->edges, g->edge_count, g->edge_cap) || jp_array_push(b->marks, known, b->mark_cap))
		return JP_NONE;
	g->edges[g->edge_count++] = (struct jprof_edge){ .from = from, .to = to };
	b->marks[known] = (struct mark){ 0 };
	return id;
}

/* A stack may pass an edge both directly and by way of dropped nodes; then it counts as direct. */
static void count_edge(struct build *b, uint32_t edge, uint32_t sample, bool direct, double value,
                       const struct jp_evidence *evidence)
{
	struct jprof_edge *e = &b->graph->edges[edge];
	struct mark *m = &b->marks[edge];
	bool again = m->seen == sample + 1, was_direct = m->direct == sample + 1;
	if (!again) {
		e->value += value;
		if (b->view->errors)
			jp_evidence_add(&m->evidence, evidence);
	}
	if (!again && !direct)
		e->bridged += value;
	else if (again && direct && !was_direct)
		e->bridged -= value;
	m->seen = sample + 1;
	if (direct)
		m->direct = sample + 1;
}

/* From each node of the stack to the next one further in; recursion by way of dropped nodes makes no edge. */
static int add_edges(struct build *b, uint32_t id, double value, const struct jp_evidence *evidence)
{
	uint32_t caller = JP_NONE;
	bool direct = true;
	for (size_t i = b->path.count; i-- > 0;) {
		uint32_t node = b->tallies[b->path.rows[i]].node;
		if (node == JP_NONE) {
			direct = false;
			continue;
		}
		if (caller != JP_NONE && (direct || caller != node)) {
			uint32_t edge = edge_between(b, caller, node);
			if (edge == JP_NONE)
				return -1;
			count_edge(b, edge, id, direct, value, evidence);
		}
		caller = node;
		direct = true;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct jprof_edge *x = a, *y = b;
	if (fabs(x->value) != fabs(y->value))
		return fabs(x->value) > fabs(y->value) ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void finish_edges(struct build *b)
{
	struct jprof_graph *g = b->graph;
	for (size_t i = 0; i < g->edge_count; i++) {
		struct jprof_edge *e = &g->edges[i];
		e->residual = !b->marks[i].direct;
		e->inlined = !e->residual && g->nodes[e->to].inlined;
		if (e->residual)
			e->bridged = e->value;
		if (b->view->errors)
			e->range = jp_evidence_range(&b->profile->lineage, &b->marks[i].evidence, b->view->counter);
	}
	if (g->edge_count)
		qsort(g->edges, g->edge_count, sizeof *g->edges, by_value);
}

/* What is known of a node while edges are chosen. */
struct ends {
	size_t in, out;
	bool called;   /* has an edge from another node */
	uint32_t part; /* leads to the part of the graph that it belongs to */
};

static uint32_t part_of(struct ends *ends, uint32_t node)
{
	while (ends[node].part != node)
		node = ends[node].part = ends[ends[node].part].part;
	return node;
}

static bool stays(const struct build *b, struct ends *ends, const struct jprof_edge *e)
{
	size_t most = b->opts.maxdegree ? b->opts.maxdegree : 8;
	struct ends *from = &ends[e->from], *to = &ends[e->to];
	bool joins = part_of(ends, (uint32_t)e->from) != part_of(ends, (uint32_t)e->to);
	if (e->from != e->to && (!to->called || joins))
		return true;
	return fabs(e->value) > b->graph->info.edgelimit && from->out < most && to->in < most;
}

static int choose_edges(struct build *b)
{
	struct jprof_graph *g = b->graph;
	size_t kept = 0;
	struct ends *ends = calloc(g->node_count + 1, sizeof *ends);
	if (!ends)
		return -1;
	for (uint32_t i = 0; i < g->node_count; i++)
		ends[i].part = i;
	for (size_t i = 0; i < g->edge_count; i++) {
		struct jprof_edge e = g->edges[i];
		if (!stays(b, ends, &e))
			continue;
		ends[e.from].out++;
		ends[e.to].in++;
		ends[e.to].called |= e.from != e.to;
		ends[part_of(ends, (uint32_t)e.from)].part = part_of(ends, (uint32_t)e.to);
		g->edges[kept++] = e;
	}
	free(ends);
	g->info.dropped_edges = g->edge_count - kept;
	g->edge_count = kept;
	return 0;
}

static int build(struct build *b)
{
	if (jp_rows_init(&b->rows, b->profile, b->view) || each_sample(b, add_nodes) || make_nodes(b) ||
	    each_sample(b, add_edges))
		return -1;
	finish_edges(b);
	if (!b->opts.whole && choose_edges(b))
		return -1;
	b->graph->names = b->rows.names;
	b->rows.names = (struct jp_intern){ 0 };
	return 0;
}

static void build_release(struct build *b)
{
	jp_rows_release(&b->rows);
	free(b->tallies);
	free(b->marks);
	free(b->path.rows);
	jp_intern_release(&b->edge_keys);
	jp_arena_release(&b->arena);
}

int jprof_graph_new(const struct jprof_profile *profile, const struct jprof_view_opts *given_view,
                    const struct jprof_graph_opts *given, struct jprof_graph **out, struct jprof_error *err)
{
	struct jprof_view_opts view;
	struct build b = { .profile = profile, .view = &view };
	int rc = jp_opts_take(&view, sizeof view, given_view, err);
	if (!rc)
		rc = jp_opts_take(&b.opts, sizeof b.opts, given, err);
	if (rc)
		return rc;
	b.graph = calloc(1, sizeof *b.graph);
	rc = b.graph ? build(&b) : -1;
	build_release(&b);
	if (rc) {
		jprof_graph_free(b.graph);
		return jp_error_nomem(err);
	}
	*out = b.graph;
	return 0;
}

const struct jprof_graph_info *jprof_graph_info(const struct jprof_graph *graph)
{
	return &graph->info;
}

size_t jprof_graph_nodes(const struct jprof_graph *graph)
{
	return graph->node_count;
}

const struct jprof_node *jprof_graph_node(const struct jprof_graph *graph, size_t i)
{
	return &graph->nodes[i];
}

size_t jprof_graph_edges(const struct jprof_graph *graph)
{
	return graph->edge_count;
}

const struct jprof_edge *jprof_graph_edge(const struct jprof_graph *graph, size_t i)
{
	return &graph->edges[i];
}

void jprof_graph_free(struct jprof_graph *graph)
{
	if (!graph)
		return;
	jp_intern_release(&graph->names);
	jp_arena_release(&graph->labels);
	free(graph->nodes);
	free(graph->edges);
	free(graph);
}
