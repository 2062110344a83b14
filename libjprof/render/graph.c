/* The call graph: rows as nodes, and what passes from one to the next as edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/search.h"
#include "view/owner.h"
#include "view/rows.h"
#include "view/walk.h"

struct jprof_graph {
	struct jp_arena labels;
	struct jprof_graph_info info;
	struct jprof_node *nodes;
	size_t node_count;
	struct jprof_edge *edges;
	size_t edge_count, edge_cap;
};

/* A row before it becomes a node. */
struct graph_row {
	double flat, cum;
	uint32_t frame;               /* where it was seen first; JP_NONE by library */
	uint32_t seen;                /* 1 + the last sample that counted it */
	uint32_t node;                /* its place in the list of nodes; JP_NONE: dropped */
	uint8_t turn;                 /* how soon it gets one of the places for nodes */
	struct jp_evidence *evidence; /* of flat and of cum, if errors are asked for */
};

/* An edge's marks while samples are added up. */
struct mark {
	uint32_t seen;   /* 1 + the last sample that counted it */
	uint32_t direct; /* likewise: that counted it without a dropped node between */
	struct jp_evidence evidence;
};

struct graph_build {
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jprof_graph_opts opts;
	struct jprof_graph *graph;
	struct graph_row *tallies;  /* by row */
	bool *passed;               /* by frame: a stack that holds something passes through it */
	struct jp_intern edge_keys; /* pairs of nodes */
	struct mark *marks;
	size_t mark_cap;
	struct jp_arena arena;
};

/* ---- Nodes: the values of all rows ---- */

static int tally_rows(struct graph_build *b)
{
	size_t count = b->view->row_count;
	b->tallies = calloc(count + 1, sizeof *b->tallies);
	b->passed = calloc((size_t)b->view->code.frame_count + 1, 1);
	struct jp_evidence *evidence =
	    b->tallies && b->view->evidence ? jp_arena_alloc(&b->arena, 2 * count * sizeof *evidence) : NULL;
	for (size_t i = 0; b->tallies && i < count; i++)
		b->tallies[i] = (struct graph_row){ .frame = JP_NONE,
			                            .node = JP_NONE,
			                            .evidence = evidence ? evidence + 2 * i : NULL };
	return b->tallies && b->passed && (evidence || !b->view->evidence) ? 0 : -1;
}

/* One stack, that holds something, with its path. */
struct pass {
	uint32_t stack;
	double value;
	const struct jp_evidence *evidence; /* if errors are asked for */
	const uint32_t *rows;
	size_t length;
	size_t site; /* the row that the value is flat of */
};

/* By all granularities but library the rows of a stack are those of its frames. */
static void pass_frames(struct graph_build *b, const struct pass *pass)
{
	const uint32_t *frames = b->walk.frames + b->walk.inner - pass->site;
	for (size_t i = 0; i < pass->length; i++) {
		struct graph_row *t = &b->tallies[pass->rows[i]];
		b->passed[frames[i]] = true;
		if (t->frame == JP_NONE)
			t->frame = frames[i];
	}
}

static int add_nodes(struct graph_build *b, const struct pass *pass)
{
	if (!jp_rows_by_path(b->view->info.granularity))
		pass_frames(b, pass);
	for (size_t i = 0; i < pass->length; i++) {
		struct graph_row *t = &b->tallies[pass->rows[i]];
		if (i == pass->site)
			t->flat += pass->value;
		if (i == pass->site && t->evidence)
			jp_evidence_add(&t->evidence[0], pass->evidence);
		if (!jp_first_in_stack(&t->seen, pass->stack))
			continue;
		t->cum += pass->value;
		if (t->evidence)
			jp_evidence_add(&t->evidence[1], pass->evidence);
	}
	return 0;
}

/* Calls `add` for each stack that holds something. */
static int each_stack(struct graph_build *b, int (*add)(struct graph_build *b, const struct pass *pass))
{
	const struct jprof_view *v = b->view;
	bool inside = b->opts.inside && v->info.granularity == JPROF_BY_SITE;
	int rc = 0;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		struct pass pass = { .stack = i,
			             .value = jp_stack_value(v, i),
			             .evidence = v->evidence ? &v->evidence[i] : NULL };
		if (pass.value == 0)
			continue;
		jp_walk_rows(&b->walk, i);
		pass.rows = jp_walk_path(&b->walk, &pass.length);
		if (inside) {
			pass.site = b->walk.inner;
			pass.rows -= pass.site;
			pass.length += pass.site;
		}
		rc = add(b, &pass);
	}
	return rc;
}

/* ---- Nodes: which stay ---- */

enum { TURN_ALLOCATES, TURN_APPLICATION, TURN_PASSES, TURN_NEVER };

static int rows_by_flat(const void *m, const void *n, void *context)
{
	const struct graph_build *b = context;
	uint32_t x = *(const uint32_t *)m, y = *(const uint32_t *)n;
	double first = fabs(b->tallies[x].flat), second = fabs(b->tallies[y].flat);
	return jp_order_by(second, first, strcmp(b->view->rows[x].name, b->view->rows[y].name));
}

static int rows_by_cum(const void *m, const void *n, void *context)
{
	const struct graph_build *b = context;
	uint32_t x = *(const uint32_t *)m, y = *(const uint32_t *)n;
	double first = fabs(b->tallies[x].cum), second = fabs(b->tallies[y].cum);
	return jp_order_by(second, first, strcmp(b->view->rows[x].name, b->view->rows[y].name));
}

static int rows_by_turn(const void *m, const void *n, void *context)
{
	const struct graph_build *b = context;
	int first = b->tallies[*(const uint32_t *)m].turn, second = b->tallies[*(const uint32_t *)n].turn;
	return first != second ? first - second : rows_by_cum(m, n, context);
}

/* A Ruby passes through hundreds of lines that allocate nothing, all with a higher cum than the lines that do. So by
 * site half of `most` places are for what allocates most itself; then come lines of the application. */
static void give_turns(struct graph_build *b, uint32_t *order, size_t count, size_t most)
{
	double least = b->graph->info.nodelimit;
	bool by_site = b->view->info.granularity == JPROF_BY_SITE;
	if (by_site)
		qsort_r(order, count, sizeof *order, rows_by_flat, b);
	for (size_t i = 0; i < count; i++) {
		struct graph_row *t = &b->tallies[order[i]];
		bool application = b->view->rows[order[i]].origin == JPROF_ORIGIN_APPLICATION;
		if (by_site && i < most / 2 && fabs(t->flat) > least)
			t->turn = TURN_ALLOCATES;
		else if (fabs(t->cum) <= least)
			t->turn = TURN_NEVER;
		else
			t->turn = by_site && application ? TURN_APPLICATION : TURN_PASSES;
	}
	qsort_r(order, count, sizeof *order, rows_by_turn, b);
}

static const char *owner_label(struct graph_build *b, uint32_t object)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) label = { 0 };
	jp_object_label(&b->view->code, object, &label);
	return label.failed ? NULL : jp_arena_dup(&b->graph->labels, label.text ? label.text : "", label.len);
}

/* What is known of a row's function; by library there is none. */
static void describe_node(const struct graph_build *b, uint32_t id, struct jprof_node *node)
{
	const struct jp_code *code = &b->view->code;
	node->full = node->name;
	if (id == JP_NONE)
		return;
	const struct jp_frame *frame = &code->frames[id];
	node->file = code->functions[frame->function].file == JP_NONE ? NULL : jp_code_file(code, frame->function);
	if (b->view->info.granularity == JPROF_BY_FILE)
		return;
	node->full = jp_code_name(code, frame->function, true);
	node->inlined = frame->inlined;
}

static int add_graph_node(struct graph_build *b, uint32_t row)
{
	struct graph_row *t = &b->tallies[row];
	struct jprof_node *node = &b->graph->nodes[b->graph->node_count];
	uint32_t object = t->frame == JP_NONE ? b->view->row_object[row] : jp_frame_location(b->view, t->frame)->object;
	*node = (struct jprof_node){
		.name = b->view->rows[row].name,
		.object = jp_code_object(&b->view->code, object),
		.owner = b->view->rows[row].library ? b->view->rows[row].library : owner_label(b, object),
		.origin = b->view->rows[row].origin,
		.flat = t->flat,
		.cum = t->cum,
	};
	describe_node(b, t->frame, node);
	if (t->evidence) {
		node->flat_range = jp_evidence_range(&b->view->lineage, &t->evidence[0], b->view->info.counter);
		node->cum_range = jp_evidence_range(&b->view->lineage, &t->evidence[1], b->view->info.counter);
	}
	t->node = (uint32_t)b->graph->node_count++;
	return node->owner ? 0 : -1;
}

static double limit(double fraction, double usual, double scale)
{
	return fraction < 0 ? -1 : trunc((fraction > 0 ? fraction : usual) * scale);
}

/* How many of the rows become nodes: they stand first in `order` then, by cum. */
static size_t count_kept(struct graph_build *b, uint32_t *order, size_t count)
{
	struct jprof_graph_info *info = &b->graph->info;
	size_t usual = b->view->info.granularity == JPROF_BY_SITE ? 40 : 80;
	size_t most = b->opts.whole ? SIZE_MAX : b->opts.nodecount ? b->opts.nodecount : usual;
	size_t kept = count < most ? count : most;
	give_turns(b, order, count, most);
	while (kept && b->tallies[order[kept - 1]].turn == TURN_NEVER)
		kept--;
	qsort_r(order, kept, sizeof *order, rows_by_cum, b);
	info->dropped_nodes = count - kept;
	for (size_t i = kept; i < count; i++)
		info->dropped_flat += fabs(b->tallies[order[i]].flat);
	return kept;
}

/* Ranges of lines, from all frames of the view that belong to nodes. */
static void find_node_lines(struct graph_build *b)
{
	const struct jp_code *code = &b->view->code;
	for (uint32_t i = 0; i < code->frame_count; i++) {
		uint32_t at = b->passed[i] ? b->tallies[b->view->row_of_frame[i]].node : JP_NONE;
		const struct jp_frame *frame = &code->frames[i];
		if (at == JP_NONE || code->functions[frame->function].file == JP_NONE || !frame->line)
			continue;
		struct jprof_node *node = &b->graph->nodes[at];
		if (!node->file || strcmp(node->file, jp_code_file(code, frame->function)))
			continue;
		if (!node->line || frame->line < node->line)
			node->line = frame->line;
		if (frame->line > node->last_line)
			node->last_line = frame->line;
	}
}

/* Rows of only zeros are no nodes. `order` has room for all. */
static int choose_nodes(struct graph_build *b, uint32_t *order)
{
	size_t count = 0;
	for (uint32_t row = 0; row < b->view->row_count; row++)
		if (b->tallies[row].flat != 0 || b->tallies[row].cum != 0)
			order[count++] = row;
	size_t kept = count_kept(b, order, count);
	b->graph->nodes = calloc(kept + 1, sizeof *b->graph->nodes);
	if (!b->graph->nodes)
		return -1;
	for (size_t i = 0; i < kept; i++)
		if (add_graph_node(b, order[i]))
			return -1;
	return 0;
}

static int make_nodes(struct graph_build *b)
{
	uint32_t *order = calloc(b->view->row_count + 1, sizeof *order);
	struct jprof_graph_info *info = &b->graph->info;
	for (size_t i = 0; i < b->view->row_count; i++) {
		info->total += b->tallies[i].flat;
		info->scale += fabs(b->tallies[i].flat);
	}
	info->difference = b->view->info.difference;
	info->nodelimit = b->opts.whole ? -1 : limit(b->opts.nodefraction, 0.005, info->scale);
	info->edgelimit = b->opts.whole ? -1 : limit(b->opts.edgefraction, 0.001, info->scale);
	int rc = order ? choose_nodes(b, order) : -1;
	free(order);
	if (!rc)
		find_node_lines(b);
	return rc;
}

/* ---- Edges ---- */

static uint32_t edge_between(struct graph_build *b, uint32_t from, uint32_t to)
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
static void count_edge(struct graph_build *b, uint32_t edge, const struct pass *pass, bool direct)
{
	struct jprof_edge *e = &b->graph->edges[edge];
	struct mark *m = &b->marks[edge];
	bool first = jp_first_in_stack(&m->seen, pass->stack);
	bool first_direct = direct && jp_first_in_stack(&m->direct, pass->stack);
	if (first) {
		e->value += pass->value;
		if (pass->evidence)
			jp_evidence_add(&m->evidence, pass->evidence);
	}
	if (first && !direct)
		e->bridged += pass->value;
	else if (!first && first_direct)
		e->bridged -= pass->value;
}

/* From each node of the stack to the next one further in; recursion by way of dropped nodes makes no edge. */
static int add_edges(struct graph_build *b, const struct pass *pass)
{
	uint32_t caller = JP_NONE;
	bool direct = true;
	for (size_t i = pass->length; i-- > 0;) {
		uint32_t node = b->tallies[pass->rows[i]].node;
		if (node == JP_NONE) {
			direct = false;
			continue;
		}
		if (caller != JP_NONE && (direct || caller != node)) {
			uint32_t edge = edge_between(b, caller, node);
			if (edge == JP_NONE)
				return -1;
			count_edge(b, edge, pass, direct);
		}
		caller = node;
		direct = true;
	}
	return 0;
}

static int edges_by_value(const void *a, const void *b)
{
	const struct jprof_edge *x = a, *y = b;
	return jp_order_by(fabs(y->value), fabs(x->value), jp_order_by(x->from, y->from, jp_order(x->to, y->to)));
}

static void finish_edges(struct graph_build *b)
{
	struct jprof_graph *g = b->graph;
	for (size_t i = 0; i < g->edge_count; i++) {
		struct jprof_edge *e = &g->edges[i];
		e->residual = !b->marks[i].direct;
		e->inlined = !e->residual && g->nodes[e->to].inlined;
		if (e->residual)
			e->bridged = e->value;
		if (b->view->evidence)
			e->range = jp_evidence_range(&b->view->lineage, &b->marks[i].evidence, b->view->info.counter);
	}
	if (g->edge_count)
		qsort(g->edges, g->edge_count, sizeof *g->edges, edges_by_value);
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

/* Of what was not asked for more than Graphviz places within seconds: that goes with the edges of a node. */
static size_t most_edges(const struct graph_build *b)
{
	enum { always = 200 };
	size_t usual = b->graph->node_count * 5 / 2;
	return b->opts.maxdegree ? SIZE_MAX : usual > always ? usual : always;
}

/* `kept`: how many stay so far. */
static bool stays(const struct graph_build *b, struct ends *ends, const struct jprof_edge *e, size_t kept)
{
	size_t most = b->opts.maxdegree ? b->opts.maxdegree : 8;
	struct ends *from = &ends[e->from], *to = &ends[e->to];
	bool joins = part_of(ends, (uint32_t)e->from) != part_of(ends, (uint32_t)e->to);
	if (e->from != e->to && (!to->called || joins))
		return true;
	return kept < most_edges(b) && fabs(e->value) > b->graph->info.edgelimit && from->out < most && to->in < most;
}

static int choose_edges(struct graph_build *b)
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
		if (!stays(b, ends, &e, kept))
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

static int build_graph(struct graph_build *b)
{
	if (jp_walk_init(&b->walk, b->view) || tally_rows(b) || each_stack(b, add_nodes) || make_nodes(b) ||
	    each_stack(b, add_edges))
		return -1;
	finish_edges(b);
	return b->opts.whole ? 0 : choose_edges(b);
}

int jprof_graph_new(const struct jprof_view *view, const struct jprof_graph_opts *given, struct jprof_graph **out,
                    struct jprof_error *err)
{
	if (jp_null(err, view, out))
		return JPROF_E_ARGUMENT;
	if (view->code.lean)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	struct graph_build b = { .view = view };
	int rc = jp_opts_take(&b.opts, sizeof b.opts, given, err);
	if (rc)
		return rc;
	b.graph = calloc(1, sizeof *b.graph);
	rc = b.graph ? build_graph(&b) : -1;
	jp_walk_release(&b.walk);
	free(b.tallies);
	free(b.passed);
	free(b.marks);
	jp_intern_release(&b.edge_keys);
	jp_arena_release(&b.arena);
	if (rc) {
		jprof_graph_free(b.graph);
		return jp_error_nomem(err);
	}
	*out = b.graph;
	return 0;
}

const struct jprof_graph_info *jprof_graph_info(const struct jprof_graph *graph)
{
	return graph ? &graph->info : NULL;
}

size_t jprof_graph_nodes(const struct jprof_graph *graph)
{
	return graph ? graph->node_count : 0;
}

const struct jprof_node *jprof_graph_node(const struct jprof_graph *graph, size_t i)
{
	return graph && i < graph->node_count ? &graph->nodes[i] : NULL;
}

size_t jprof_graph_edges(const struct jprof_graph *graph)
{
	return graph ? graph->edge_count : 0;
}

const struct jprof_edge *jprof_graph_edge(const struct jprof_graph *graph, size_t i)
{
	return graph && i < graph->edge_count ? &graph->edges[i] : NULL;
}

void jprof_graph_free(struct jprof_graph *graph)
{
	if (!graph)
		return;
	jp_arena_release(&graph->labels);
	free(graph->nodes);
	free(graph->edges);
	free(graph);
}
