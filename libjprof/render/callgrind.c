/* --callgrind: the format of valgrind's callgrind, for kcachegrind and callgrind_annotate; see "Callgrind Format
 * Specification" in valgrind's manual.
 *
 * Costs are whole numbers: a stack's share of the sum's whole part, so that all of them sum up to the total of --text.
 * A function that was inlined is a function of its own, called from where it was inlined, as in all other reports.
 * Where there are tags, each is a function that calls the outermost one.
 *
 * Readers make a function's inclusive cost of what it calls, or of what calls it. Both are right only if it stands
 * once in a stack, and what readers take for one function is what has one written name. So a name that comes again
 * further in is NAME'2 there, then NAME'3 and so on, as callgrind writes them with --separate-recs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/idsort.h"
#include "base/search.h"
#include "base/trie.h"
#include "model/tags.h"
#include "render/render.h"
#include "statistics/scaling.h"
#include "view/walk.h"

enum { events = 2 }; /* grown and shrunk; the second only if something shrank */

static const char *const counter_titles[JPROF_COUNTERS] = {
	[JPROF_INUSE_SPACE] = "Bytes in use",
	[JPROF_INUSE_OBJECTS] = "Objects in use",
	[JPROF_ALLOC_SPACE] = "Bytes ever allocated",
	[JPROF_ALLOC_OBJECTS] = "Objects ever allocated",
};

struct function_key {
	uint32_t id, object;
	uint32_t inlined; /* or IS_ROOT_TAG: `id` is that of a tag's name, and there is no object */
	uint32_t again;   /* how often its name stands further out in the stack */
};

enum { IS_ROOT_TAG = 2 };

/* A function of kcachegrind's, and under which numbers its names were written; 0: not yet. */
struct function {
	struct function_key key;
	uint32_t object_number, file_number, name_number;
};

/* A cost of a line, or of a call made there. Functions are ranks once they have some. */
struct cost_key {
	uint32_t from, line;
	uint32_t to, to_line; /* JP_NONE: no call, the line's own */
};

/* How often a title stands in a stack. */
struct repeats {
	uint32_t stack, count;
};

/* A frame, or a tag, below those that called it: what was found out of it holds for all stacks that begin so. */
struct call {
	uint32_t title; /* id in title_keys */
	uint32_t place; /* id in places */
	uint32_t cost;  /* of the call from its parent; JP_NONE: it has none */
};

struct cost {
	struct cost_key key;
	double value[events];
	double calls; /* objects that were allocated through it */
};

/* Names that were written with their number. */
struct written {
	struct jp_intern names;
};

struct graph {
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jp_pairs homes;        /* (id, object) of functions, */
	struct jp_pairs function_ids; /* and (home, what else is in their keys) */
	struct jp_pairs places;       /* (function, line) */
	uint32_t *first_places;       /* by frame: its place where its title is new in a stack, or JP_NONE */
	struct jp_pairs cost_ids;     /* (place, place called there or JP_NONE) */
	struct jp_trie stacks;        /* of frames and tags, by their numbers (view/walk.h) */
	struct call *calls;           /* by node of `stacks`, of which 0 is none */
	size_t call_count, call_cap;
	struct function *functions;
	size_t function_count, function_cap;
	struct cost *costs;
	size_t cost_count, cost_cap;
	uint32_t *by_rank; /* functions in the file's order */
	struct jp_intern title_keys, tag_names;
	uint32_t *titles;        /* what is written for a function, and for it inlined: id in title_keys, or JP_NONE */
	struct repeats *repeats; /* by title */
	size_t repeat_cap;
	double sum[events], sum_objects; /* so far, before rounding */
	double total[events];
	struct written objects, files, names;
	struct jp_strbuf text;
	struct jp_strbuf *out;
};

/* ---- adding up -------------------------------------------------------------------------------------- */

static const char *inline_mark(uint32_t inlined)
{
	return inlined == true ? " (inline)" : "";
}

/* The name as it is written, in g->text. Readers keep no blanks at the ends of names. */
static void put_written_title(struct graph *g, const char *name, const char *more)
{
	jp_strbuf_cut(&g->text, 0);
	jp_strbuf_line(&g->text, name + strspn(name, " "));
	while (g->text.len && g->text.text[g->text.len - 1] == ' ')
		jp_strbuf_cut(&g->text, g->text.len - 1);
	if (!g->text.len)
		jp_strbuf_str(&g->text, "???");
	jp_strbuf_str(&g->text, more);
}

static uint32_t title_id(struct graph *g, const char *name, const char *more)
{
	uint32_t known = g->title_keys.count;
	put_written_title(g, name, more);
	if (g->text.failed || jp_array_push(g->repeats, known, g->repeat_cap))
		return JP_NONE;
	uint32_t id = jp_intern(&g->title_keys, g->text.text, g->text.len);
	if (id == known)
		g->repeats[known] = (struct repeats){ 0 };
	return id;
}

static uint32_t written_title(struct graph *g, const struct jp_frame *f)
{
	uint32_t *title = &g->titles[2 * f->function + f->inlined];
	if (*title == JP_NONE)
		*title = title_id(g, jp_code_name(&g->view->code, f->function, g->view->info.full_names),
		                  inline_mark(f->inlined));
	return *title;
}

/* How often a title came before in a stack. */
static uint32_t count_title(struct graph *g, uint32_t title, uint32_t stack)
{
	struct repeats *r = &g->repeats[title];
	if (jp_first_in_stack(&r->stack, stack))
		r->count = 0;
	return r->count++;
}

static uint32_t function_of_key(struct graph *g, const struct function_key *key)
{
	uint32_t home = jp_pair_id(&g->homes, key->id, key->object);
	uint32_t id = home == JP_NONE ? JP_NONE : jp_pair_id(&g->function_ids, home, 3 * key->again + key->inlined);
	if (id != g->function_count || id == JP_NONE)
		return id;
	if (jp_array_push(g->functions, g->function_count, g->function_cap))
		return JP_NONE;
	g->functions[g->function_count++] = (struct function){ .key = *key };
	return id;
}

static int learn_frame(struct graph *g, uint32_t frame, uint32_t stack, struct call *call)
{
	const struct jp_frame *f = &g->view->code.frames[frame];
	call->title = written_title(g, f);
	if (call->title == JP_NONE)
		return -1;
	uint32_t again = count_title(g, call->title, stack);
	call->place = again ? JP_NONE : g->first_places[frame];
	if (call->place != JP_NONE)
		return 0;
	const struct function_key key = { f->function, jp_frame_location(g->view, frame)->object, f->inlined, again };
	uint32_t function = function_of_key(g, &key);
	call->place = function == JP_NONE ? JP_NONE : jp_pair_id(&g->places, function, f->line);
	if (!again)
		g->first_places[frame] = call->place;
	return call->place == JP_NONE ? -1 : 0;
}

/* The outermost call, where there are tags. */
static int learn_tag(struct graph *g, uint32_t tag, uint32_t stack, struct call *call)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	jp_put_tag(&g->view->profile->tags, tag, &name);
	call->title = name.failed ? JP_NONE : title_id(g, name.text, "");
	uint32_t id = call->title == JP_NONE ? JP_NONE : jp_intern(&g->tag_names, name.text, name.len);
	if (id == JP_NONE)
		return -1;
	const struct function_key key = { id, JP_NONE, IS_ROOT_TAG, count_title(g, call->title, stack) };
	uint32_t function = function_of_key(g, &key);
	call->place = function == JP_NONE ? JP_NONE : jp_pair_id(&g->places, function, 0);
	return call->place == JP_NONE ? -1 : 0;
}

/* What one stack adds. */
struct share {
	uint32_t stack;
	int event;
	double value, objects;
};

static struct cost_key key_of_cost(const struct graph *g, uint32_t place, uint32_t called)
{
	return (struct cost_key){
		.from = jp_pair_first(&g->places, place),
		.line = jp_pair_second(&g->places, place),
		.to = called == JP_NONE ? JP_NONE : jp_pair_first(&g->places, called),
		.to_line = called == JP_NONE ? JP_NONE : jp_pair_second(&g->places, called),
	};
}

/* Of a place, and of what is called there; JP_NONE: nothing. JP_NONE when memory is short. */
static uint32_t cost_id(struct graph *g, uint32_t place, uint32_t called)
{
	uint32_t id = jp_pair_id(&g->cost_ids, place, called);
	if (id != g->cost_count || id == JP_NONE)
		return id;
	if (jp_array_push(g->costs, g->cost_count, g->cost_cap))
		return JP_NONE;
	g->costs[g->cost_count++] = (struct cost){ .key = key_of_cost(g, place, called) };
	return id;
}

/* A function stands once in a stack, and so does a cost. */
static void add_cost(struct cost *cost, const struct share *share)
{
	cost->value[share->event] += share->value;
	cost->calls += share->objects;
}

/* Learns the first node that is not known. */
static int new_call(struct graph *g, uint32_t stack)
{
	const uint32_t node = (uint32_t)g->call_count, parent = jp_trie_parent(&g->stacks, node);
	const uint32_t frames = g->view->code.frame_count, item = jp_trie_item(&g->stacks, node);
	struct call call = { .cost = JP_NONE };
	if (jp_array_push(g->calls, g->call_count, g->call_cap) ||
	    (item < frames ? learn_frame(g, item, stack, &call)
	                   : learn_tag(g, jp_walk_tag(g->view, item), stack, &call)))
		return -1;
	if (parent && (call.cost = cost_id(g, g->calls[parent].place, call.place)) == JP_NONE)
		return -1;
	g->calls[g->call_count++] = call;
	return 0;
}

/* From the root on, which is where repeats are counted from. */
static int add_calls(struct graph *g, const struct share *share)
{
	const struct jp_trie *stacks = &g->stacks;
	for (size_t i = 0; i < stacks->depth; i++) {
		uint32_t node = stacks->path[i];
		if (node < g->call_count)
			count_title(g, g->calls[node].title, share->stack);
		else if (new_call(g, share->stack))
			return -1;
		if (g->calls[node].cost != JP_NONE)
			add_cost(&g->costs[g->calls[node].cost], share);
	}
	uint32_t own = cost_id(g, g->calls[jp_trie_end(stacks)].place, JP_NONE);
	if (own == JP_NONE)
		return -1;
	add_cost(&g->costs[own], share);
	return 0;
}

static int add_stack_costs(struct graph *g, uint32_t id)
{
	double value = jp_stack_value(g->view, id);
	double objects = jp_stack_number(g->view, id, jp_objects_of(g->view->info.counter));
	jp_walk_tagged(&g->walk, id);
	if (jp_trie_add(&g->stacks, g->walk.frames, g->walk.depth))
		return -1;
	if (!g->walk.depth)
		return 0;
	struct share share = { .stack = id, .event = value < 0 };
	share.value = jp_whole_step(&g->sum[share.event], fabs(value));
	share.objects = jp_whole_step(&g->sum_objects, fabs(objects));
	g->total[share.event] += share.value;
	return add_calls(g, &share);
}

/* ---- order ---------------------------------------------------------------------------------------------- */

static bool is_root_tag(const struct function *f)
{
	return f->key.inlined == IS_ROOT_TAG;
}

static const char *function_name(const struct graph *g, const struct function *f)
{
	if (is_root_tag(f))
		return jp_intern_get(&g->tag_names, f->key.id);
	return jp_code_name(&g->view->code, f->key.id, g->view->info.full_names);
}

static const char *function_file(const struct graph *g, const struct function *f)
{
	bool has_file = !is_root_tag(f) && g->view->code.functions[f->key.id].file != JP_NONE;
	return has_file ? jp_code_file(&g->view->code, f->key.id) : "???";
}

static const char *function_object(const struct graph *g, const struct function *f)
{
	const char *path = is_root_tag(f) ? "" : jp_code_object(&g->view->code, f->key.object);
	return *path ? path : "???";
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct graph *g = context;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct function *x = &g->functions[m], *y = &g->functions[n];
	int rc = strcmp(function_object(g, x), function_object(g, y));
	rc = rc ? rc : strcmp(function_file(g, x), function_file(g, y));
	rc = rc ? rc : strcmp(function_name(g, x), function_name(g, y));
	return rc ? rc : jp_order_by(x->key.again, y->key.again, jp_order(m, n));
}

/* Orders all functions by object file, file and name, and puts their places into the costs' keys. */
static int rank_functions(struct graph *g)
{
	uint32_t *rank = calloc(g->function_count + 1, sizeof *rank);
	g->by_rank = calloc(g->function_count + 1, sizeof *g->by_rank);
	if (!rank || !g->by_rank) {
		free(rank);
		return -1;
	}
	for (uint32_t i = 0; i < g->function_count; i++)
		g->by_rank[i] = i;
	qsort_r(g->by_rank, g->function_count, sizeof *g->by_rank, compare_functions, g);
	for (uint32_t i = 0; i < g->function_count; i++)
		rank[g->by_rank[i]] = i;
	for (size_t i = 0; i < g->cost_count; i++) {
		struct cost_key *key = &g->costs[i].key;
		key->from = rank[key->from];
		if (key->to != JP_NONE)
			key->to = rank[key->to];
	}
	free(rank);
	return 0;
}

/* Of one function: its own lines before its calls. */
static int by_cost_key(uint32_t a, uint32_t b, const void *context)
{
	const struct graph *g = context;
	const struct cost_key *x = &g->costs[a].key, *y = &g->costs[b].key;
	if ((x->to == JP_NONE) != (y->to == JP_NONE))
		return x->to == JP_NONE ? -1 : 1;
	if (x->line != y->line)
		return jp_order(x->line, y->line);
	return jp_order_by(x->to, y->to, jp_order(x->to_line, y->to_line));
}

/* Numbers of all costs by function, then as by_cost_key has them; NULL when memory is short. */
static uint32_t *order_costs(const struct graph *g)
{
	uint32_t *ends = calloc(g->function_count + 1, sizeof *ends); /* by function; where it begins, at first */
	uint32_t *ids = calloc(g->cost_count + 1, sizeof *ids);
	if (!ends || !ids) {
		free(ends);
		free(ids);
		return NULL;
	}
	for (size_t i = 0; i < g->cost_count; i++)
		ends[g->costs[i].key.from + 1]++;
	for (size_t i = 1; i < g->function_count; i++)
		ends[i] += ends[i - 1];
	for (uint32_t i = 0; i < g->cost_count; i++)
		ids[ends[g->costs[i].key.from]++] = i;
	for (size_t i = 0, first = 0; i < g->function_count; first = ends[i++])
		jp_sort_ids(ids + first, ends[i] - first, by_cost_key, g);
	free(ends);
	return ids;
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

/* A whole number of 0 or more, and what stands behind it. */
static void put_number(struct graph *g, double value, const char *behind)
{
	jp_strbuf_whole(g->out, value);
	jp_strbuf_str(g->out, behind);
}

/* The number of a name, which is in g->text then. Where it comes again further in, its place stands behind it. */
static int number_of(struct graph *g, struct written *written, const char *name, const struct function_key *of,
                     uint32_t *number)
{
	char more[32] = "";
	if (of && of->again)
		snprintf(more, sizeof more, "%s'%u", inline_mark(of->inlined), of->again + 1);
	else if (of)
		snprintf(more, sizeof more, "%s", inline_mark(of->inlined));
	put_written_title(g, name, more);
	uint32_t id = g->text.failed ? JP_NONE : jp_intern(&written->names, g->text.text, g->text.len);
	if (id == JP_NONE)
		return -1;
	*number = id + 1;
	return 0;
}

/* "KEY=(1) name" the first time, "KEY=(1)" from then on. `number` remembers which, and `key` has the
 * "=(". `of`: the function that is called so, or NULL. */
static int put_numbered_name(struct graph *g, struct written *written, const char *key, const char *name,
                             const struct function_key *of, uint32_t *number)
{
	uint32_t known = written->names.count;
	if (!*number && number_of(g, written, name, of, number))
		return -1;
	jp_strbuf_str(g->out, key);
	put_number(g, *number, *number > known ? ") " : ")\n");
	if (*number > known) {
		jp_strbuf_str(g->out, g->text.text);
		jp_strbuf_str(g->out, "\n");
	}
	return 0;
}

static struct function *function_of_node(const struct graph *g, uint32_t rank)
{
	return &g->functions[g->by_rank[rank]];
}

static int put_object(struct graph *g, struct function *f, const char *key)
{
	return put_numbered_name(g, &g->objects, key, function_object(g, f), NULL, &f->object_number);
}

static int put_function_file(struct graph *g, struct function *f, const char *key)
{
	return put_numbered_name(g, &g->files, key, function_file(g, f), NULL, &f->file_number);
}

static int put_function_name(struct graph *g, struct function *f, const char *key)
{
	return put_numbered_name(g, &g->names, key, function_name(g, f), &f->key, &f->name_number);
}

static int put_function(struct graph *g, uint32_t rank)
{
	struct function *f = function_of_node(g, rank);
	return put_object(g, f, "ob=(") || put_function_file(g, f, "fl=(") ? -1 : put_function_name(g, f, "fn=(");
}

/* Object file and file are those of the caller where they are not told. */
static int put_called(struct graph *g, uint32_t from, uint32_t to)
{
	const struct function *caller = function_of_node(g, from);
	struct function *called = function_of_node(g, to);
	int rc = 0;
	if (strcmp(function_object(g, caller), function_object(g, called)))
		rc = put_object(g, called, "cob=(");
	if (!rc && strcmp(function_file(g, caller), function_file(g, called)))
		rc = put_function_file(g, called, "cfi=(");
	return rc ? rc : put_function_name(g, called, "cfn=(");
}

static bool has_shrunk(const struct graph *g)
{
	return g->total[1] != 0;
}

static int put_cost(struct graph *g, const struct cost *cost)
{
	const struct cost_key *key = &cost->key;
	if (key->to != JP_NONE) {
		if (put_called(g, key->from, key->to))
			return -1;
		jp_strbuf_str(g->out, "calls=");
		put_number(g, fmax(cost->calls, 1), " ");
		put_number(g, key->to_line, "\n");
	}
	put_number(g, key->line, " ");
	put_number(g, cost->value[0], has_shrunk(g) ? " " : "\n");
	if (has_shrunk(g))
		put_number(g, cost->value[1], "\n");
	return 0;
}

static void put_callgrind_head(struct graph *g)
{
	const char *name = jp_counter_names[g->view->info.counter];
	const char *title = counter_titles[g->view->info.counter];
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

static int put_costs(struct graph *g, const uint32_t *ids)
{
	uint32_t before = JP_NONE;
	for (size_t i = 0; i < g->cost_count; i++) {
		const struct cost *cost = &g->costs[ids[i]];
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
		jp_strbuf_drain(g->out);
	}
	return 0;
}

static int put_callgrind(struct graph *g)
{
	uint32_t *ids = rank_functions(g) ? NULL : order_costs(g);
	if (!ids)
		return -1;
	put_callgrind_head(g);
	int rc = put_costs(g, ids);
	free(ids);
	jp_strbuf_printf(g->out, "\ntotals: %.0f", g->total[0]);
	if (has_shrunk(g))
		jp_strbuf_printf(g->out, " %.0f", g->total[1]);
	jp_strbuf_str(g->out, "\n");
	return rc;
}

static void callgrind_release(struct graph *g)
{
	jp_pairs_release(&g->homes);
	jp_pairs_release(&g->function_ids);
	jp_intern_release(&g->title_keys);
	jp_intern_release(&g->tag_names);
	jp_pairs_release(&g->places);
	jp_pairs_release(&g->cost_ids);
	jp_trie_release(&g->stacks);
	jp_intern_release(&g->objects.names);
	jp_intern_release(&g->files.names);
	jp_intern_release(&g->names.names);
	jp_strbuf_release(&g->text);
	jp_walk_release(&g->walk);
	free(g->functions);
	free(g->costs);
	free(g->titles);
	free(g->first_places);
	free(g->calls);
	free(g->repeats);
	free(g->by_rank);
}

int jp_render_callgrind(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	struct graph g = { .view = view,
		           .out = out,
		           .call_count = 1,
		           .titles = jp_none_array(2 * (size_t)view->code.function_count),
		           .first_places = jp_none_array(view->code.frame_count) };
	int rc = jp_walk_init(&g.walk, view) || !g.titles || !g.first_places || jp_array_push(g.calls, 1, g.call_cap)
	             ? -1
	             : 0;
	(void)opts;
	for (uint32_t i = 0; !rc && i < view->stack_count; i++)
		rc = add_stack_costs(&g, i);
	if (!rc)
		rc = put_callgrind(&g);
	callgrind_release(&g);
	return rc ? jp_error_nomem(err) : 0;
}
