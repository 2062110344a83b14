/* --callgrind: the format of valgrind's callgrind, for kcachegrind and callgrind_annotate; see "Callgrind Format
 * Specification" in valgrind's manual.
 *
 * Costs are whole numbers: a stack's share of the sum's whole part, so that all of them sum up to the total of --text.
 * A function that was inlined is a function of its own, called from where it was inlined, as in all other reports.
 *
 * Readers make a function's inclusive cost of what it calls, or of what calls it. Both are right only if it stands
 * once in a stack. So, as callgrind itself does with --separate-recs=2, all but a function's outermost frame belong
 * to a function NAME'2. That one's own inclusive cost may count a stack more than once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "render/render.h"

enum { events = 2 }; /* grown and shrunk; the second only if something shrank */

static const char *const counter_titles[JPROF_COUNTERS] = { "Objects in use", "Bytes in use", "Objects ever allocated",
	                                                    "Bytes ever allocated" };

/* A function of kcachegrind's. */
struct function {
	uint32_t id, object;
	uint32_t inlined;
};

/* A cost of a line, or of a call made there. A node is 2 * function, and 1 more for NAME'2. */
struct cost_key {
	uint32_t from, line;
	uint32_t to, to_line; /* JP_NONE: no call, the line's own */
};

struct cost {
	struct cost_key key;
	double value[events];
	double calls;  /* objects that were allocated through it */
	uint32_t seen; /* 1 + the last sample that counted it */
};

struct place {
	uint32_t node, line;
};

/* Names that were written with their number. */
struct written {
	struct jp_intern names;
};

struct graph {
	const struct jprof_profile *profile;
	const struct jprof_view_opts *opts;
	struct jp_intern function_keys, cost_keys;
	struct function *functions;
	size_t function_count, function_cap;
	struct cost *costs;
	size_t cost_count, cost_cap;
	uint32_t *rank; /* by function: its place in the file's order */
	uint32_t *met;  /* by function: 1 + the last sample that has it */
	size_t met_cap;
	struct place *stack; /* of the sample under way, innermost first */
	size_t depth, stack_cap;
	double sum[events], sum_objects; /* so far, before rounding */
	double total[events];
	struct written objects, files, names;
	struct jp_strbuf text;
	struct jp_strbuf *out;
};

/* ---- adding up -------------------------------------------------------------------------------------- */

static uint32_t function_of(struct graph *g, const struct jp_location *l, const struct jp_frame *frame)
{
	const struct function f = { frame->function, l->object, frame->inlined };
	uint32_t known = g->function_keys.count, id = jp_intern(&g->function_keys, &f, sizeof f);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_push(g->functions, g->function_count, g->function_cap) ||
	    jp_array_push(g->met, g->function_count, g->met_cap))
		return JP_NONE;
	g->met[g->function_count] = 0;
	g->functions[g->function_count++] = f;
	return id;
}

static int take_stack(struct graph *g, const struct jp_sample *sample)
{
	size_t depth;
	const uint32_t *stack = jp_stack_get(g->profile, sample->stack, &depth);
	g->depth = 0;
	for (size_t i = 0; i < depth; i++) {
		const struct jp_location *l = &g->profile->locations[stack[i]];
		for (uint32_t f = 0; f < l->frame_count; f++) {
			const struct jp_frame *frame = &g->profile->frames[l->frame_first + f];
			uint32_t function = function_of(g, l, frame);
			if (function == JP_NONE || jp_array_push(g->stack, g->depth, g->stack_cap))
				return -1;
			g->stack[g->depth++] = (struct place){ 2 * function, frame->line };
		}
	}
	return 0;
}

/* From the root on: what was met before is NAME'2. */
static void mark_recursion(struct graph *g, uint32_t sample)
{
	for (size_t i = g->depth; i-- > 0;) {
		uint32_t *met = &g->met[g->stack[i].node / 2];
		g->stack[i].node += *met == sample + 1;
		*met = sample + 1;
	}
}

/* What one sample adds. */
struct share {
	uint32_t sample;
	int event;
	double value, objects;
};

static int add_cost(struct graph *g, struct cost_key key, const struct share *share)
{
	uint32_t known = g->cost_keys.count, id = jp_intern(&g->cost_keys, &key, sizeof key);
	if (id == JP_NONE || (id == known && jp_array_push(g->costs, g->cost_count, g->cost_cap)))
		return -1;
	if (id == known)
		g->costs[g->cost_count++] = (struct cost){ .key = key };
	if (g->costs[id].seen == share->sample + 1)
		return 0;
	g->costs[id].seen = share->sample + 1;
	g->costs[id].value[share->event] += share->value;
	g->costs[id].calls += share->objects;
	return 0;
}

static int add_sample(struct graph *g, uint32_t id)
{
	const struct jp_sample *sample = &g->profile->samples[id];
	enum jprof_counter counter = g->opts->counter;
	double value = sample->value[counter], objects = sample->value[counter & ~1U];
	if (take_stack(g, sample))
		return -1;
	if (!g->depth)
		return 0;
	mark_recursion(g, id);
	struct share share = { .sample = id, .event = value < 0 };
	share.value = jp_whole_step(&g->sum[share.event], fabs(value));
	share.objects = jp_whole_step(&g->sum_objects, fabs(objects));
	g->total[share.event] += share.value;
	int rc = 0;
	for (size_t i = 0; !rc && i < g->depth; i++) {
		struct cost_key key = { g->stack[i].node, g->stack[i].line, JP_NONE, JP_NONE };
		if (i) {
			key.to = g->stack[i - 1].node;
			key.to_line = g->stack[i - 1].line;
		}
		rc = add_cost(g, key, &share);
	}
	return rc;
}

/* ---- order ---------------------------------------------------------------------------------------------- */

static const char *name_of(const struct graph *g, const struct function *f)
{
	const struct jp_function *function = &g->profile->functions[f->id];
	return jp_string(g->profile, g->opts->full_names ? function->name : function->brief);
}

static const char *file_of(const struct graph *g, const struct function *f)
{
	uint32_t file = g->profile->functions[f->id].file;
	return file == JP_NONE ? "???" : jp_string(g->profile, file);
}

static const char *object_of(const struct graph *g, const struct function *f)
{
	const char *path = jp_string(g->profile, g->profile->objects[f->object].path);
	return *path ? path : "???";
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct graph *g = context;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct function *x = &g->functions[m], *y = &g->functions[n];
	int rc = strcmp(object_of(g, x), object_of(g, y));
	rc = rc ? rc : strcmp(file_of(g, x), file_of(g, y));
	rc = rc ? rc : strcmp(name_of(g, x), name_of(g, y));
	return rc ? rc : (m > n) - (m < n);
}

/* The place of every function among all, by object file, file and name. */
static int rank_functions(struct graph *g)
{
	uint32_t *order = calloc(g->function_count + 1, sizeof *order);
	g->rank = calloc(g->function_count + 1, sizeof *g->rank);
	for (uint32_t i = 0; order && i < g->function_count; i++)
		order[i] = i;
	if (order && g->function_count)
		qsort_r(order, g->function_count, sizeof *order, compare_functions, g);
	for (uint32_t i = 0; order && g->rank && i < g->function_count; i++)
		g->rank[order[i]] = i;
	int rc = order && g->rank ? 0 : -1;
	free(order);
	return rc;
}

static int by_number(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_nodes(const struct graph *g, uint32_t a, uint32_t b)
{
	int rc = by_number(g->rank[a / 2], g->rank[b / 2]);
	return rc ? rc : by_number(a, b);
}

/* By function; its own lines before its calls. */
static int compare(const void *a, const void *b, void *context)
{
	const struct graph *g = context;
	const struct cost_key *x = &((const struct cost *)a)->key, *y = &((const struct cost *)b)->key;
	if (x->from != y->from)
		return compare_nodes(g, x->from, y->from);
	if ((x->to == JP_NONE) != (y->to == JP_NONE))
		return x->to == JP_NONE ? -1 : 1;
	if (x->line != y->line)
		return by_number(x->line, y->line);
	return x->to != y->to ? compare_nodes(g, x->to, y->to) : by_number(x->to_line, y->to_line);
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

/* "KEY=(1) name" the first time, "KEY=(1)" from then on. Readers keep no blanks at the ends of names. */
static int put_name(struct graph *g, struct written *written, const char *key, const char *name, const char *more)
{
	jp_strbuf_cut(&g->text, 0);
	jp_strbuf_visible(&g->text, name + strspn(name, " "));
	while (g->text.len && g->text.text[g->text.len - 1] == ' ')
		jp_strbuf_cut(&g->text, g->text.len - 1);
	if (!g->text.len)
		jp_strbuf_str(&g->text, "???");
	jp_strbuf_str(&g->text, more);
	uint32_t known = written->names.count;
	uint32_t id = g->text.failed ? JP_NONE : jp_intern(&written->names, g->text.text, g->text.len);
	if (id == JP_NONE)
		return -1;
	jp_strbuf_printf(g->out, "%s=(%u)", key, id + 1);
	if (id == known)
		jp_strbuf_printf(g->out, " %s", g->text.text);
	jp_strbuf_str(g->out, "\n");
	return 0;
}

static int put_function_name(struct graph *g, uint32_t node, const char *key)
{
	const struct function *f = &g->functions[node / 2];
	const char *more = f->inlined ? (node % 2 ? " (inline)'2" : " (inline)") : node % 2 ? "'2" : "";
	return put_name(g, &g->names, key, name_of(g, f), more);
}

static int put_function(struct graph *g, uint32_t node)
{
	const struct function *f = &g->functions[node / 2];
	return put_name(g, &g->objects, "ob", object_of(g, f), "") || put_name(g, &g->files, "fl", file_of(g, f), "")
	           ? -1
	           : put_function_name(g, node, "fn");
}

/* Object file and file are those of the caller where they are not told. */
static int put_called(struct graph *g, uint32_t from, uint32_t to)
{
	const struct function *caller = &g->functions[from / 2], *called = &g->functions[to / 2];
	int rc = 0;
	if (strcmp(object_of(g, caller), object_of(g, called)))
		rc = put_name(g, &g->objects, "cob", object_of(g, called), "");
	if (!rc && strcmp(file_of(g, caller), file_of(g, called)))
		rc = put_name(g, &g->files, "cfi", file_of(g, called), "");
	return rc ? rc : put_function_name(g, to, "cfn");
}

static bool has_shrunk(const struct graph *g)
{
	return g->total[1] != 0;
}

static void put_values(struct graph *g, uint32_t line, const double value[static events])
{
	jp_strbuf_printf(g->out, "%u %.0f", line, value[0]);
	if (has_shrunk(g))
		jp_strbuf_printf(g->out, " %.0f", value[1]);
	jp_strbuf_str(g->out, "\n");
}

static int put_cost(struct graph *g, const struct cost *cost)
{
	const struct cost_key *key = &cost->key;
	if (key->to != JP_NONE) {
		if (put_called(g, key->from, key->to))
			return -1;
		jp_strbuf_printf(g->out, "calls=%.0f %u\n", fmax(cost->calls, 1), key->to_line);
	}
	put_values(g, key->line, cost->value);
	return 0;
}

static void put_head(struct graph *g)
{
	const char *name = jp_counter_names[g->opts->counter], *title = counter_titles[g->opts->counter];
	jp_strbuf_printf(g->out, "# callgrind format\nversion: 1\ncreator: jprof %s\npositions: line\n",
	                 jprof_version());
	if (has_shrunk(g))
		jp_strbuf_printf(g->out,
		                 "event: %s_grew : %s, grown\nevent: %s_shrank : %s, shrunk\n"
		                 "events: %s_grew %s_shrank\nsummary: %.0f %.0f\n",
		                 name, title, name, title, name, name, g->total[0], g->total[1]);
	else
		jp_strbuf_printf(g->out, "event: %s : %s\nevents: %s\nsummary: %.0f\n", name, title, name, g->total[0]);
}

static int put_all(struct graph *g)
{
	uint32_t before = JP_NONE;
	if (rank_functions(g))
		return -1;
	if (g->cost_count)
		qsort_r(g->costs, g->cost_count, sizeof *g->costs, compare, g);
	put_head(g);
	for (size_t i = 0; i < g->cost_count; i++) {
		const struct cost *cost = &g->costs[i];
		if (cost->value[0] == 0 && cost->value[1] == 0)
			continue;
		if (cost->key.from != before) {
			jp_strbuf_str(g->out, "\n");
			if (put_function(g, cost->key.from))
				return -1;
		}
		before = cost->key.from;
		if (put_cost(g, cost))
			return -1;
	}
	jp_strbuf_printf(g->out, "\ntotals: %.0f", g->total[0]);
	if (has_shrunk(g))
		jp_strbuf_printf(g->out, " %.0f", g->total[1]);
	jp_strbuf_str(g->out, "\n");
	return 0;
}

static void release(struct graph *g)
{
	jp_intern_release(&g->function_keys);
	jp_intern_release(&g->cost_keys);
	jp_intern_release(&g->objects.names);
	jp_intern_release(&g->files.names);
	jp_intern_release(&g->names.names);
	jp_strbuf_release(&g->text);
	free(g->functions);
	free(g->costs);
	free(g->met);
	free(g->rank);
	free(g->stack);
}

int jp_render_callgrind(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	struct graph g = { .profile = profile, .opts = opts, .out = out };
	int rc = 0;
	for (uint32_t i = 0; !rc && i < jp_sample_count(profile); i++)
		if (jp_in_view(profile, opts, &profile->samples[i]))
			rc = add_sample(&g, i);
	if (!rc)
		rc = put_all(&g);
	release(&g);
	return rc ? jp_error_nomem(err) : 0;
}
