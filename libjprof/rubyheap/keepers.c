/* Which objects keep most of a Ruby's heap. The tree of dominators is walked from its root on: what holds different
 * things (Ruby, a class, an object) gives way to those of them that are large, a container stands for its elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "rubyheap/classcrowds.h"
#include "rubyheap/keeperwords.h"

/* A keeper has a row from this part of all bytes on. */
static const double least_kept_part = 0.005;

/* One element makes most of a container: then it is the keeper. */
static const double one_makes_most = 0.6;

/* A single object that a constant or variable refers to is a keeper from this part of all bytes on: a String that
 * grows. */
static const double lone_part = 0.1;

/* What has more than so many large things of a class is one keeper: a thread pool, nodes of a list. */
enum { most_alike = 5 };

struct keeper_row {
	struct jprof_keeper keeper;
	uint32_t node;
	const struct jp_crowd *crowd; /* the row is of all of it, and `node` the largest; NULL: of the node alone */
	bool by_ways;                 /* it has objects that others keep, too: find_shared */
	bool shared;                  /* and no others */
};

struct jprof_keepers {
	struct jprof_keepers_info info;
	struct keeper_row *rows;
	size_t count, cap;
	struct jp_crowds crowds;
	struct jp_arena texts;
};

static int weigh_objects(struct jp_weights *w, struct jprof_keepers_info *info)
{
	const struct jprof_rubyheap *h = w->h;
	const struct jp_dominators *d = &h->dominators;
	bool *below = calloc(h->heap.graph.nodes, sizeof *below);
	if (!below)
		return -1;
	for (uint32_t i = 1; i < d->reached; i++) {
		uint32_t node = d->order[i], above = d->idom[node];
		const struct jp_heap_object *object = &h->heap.objects[node];
		below[node] = below[above] || (w->chosen && w->chosen[above]);
		w->objects[node] = w->chosen ? jp_chosen_objects(w, node) : object->type > JP_HEAP_ROOT;
		w->bytes[node] = w->chosen ? jp_chosen_bytes(w, node, below[node]) : object->bytes;
	}
	free(below);
	for (uint32_t i = d->reached - 1; i > 0; i--) {
		w->bytes[d->idom[d->order[i]]] += w->bytes[d->order[i]];
		w->objects[d->idom[d->order[i]]] += w->objects[d->order[i]];
	}
	for (uint32_t i = 0; i < h->heap.count; i++)
		if (d->idom[i] == JP_NONE && (!w->chosen || w->chosen[i]) && h->heap.objects[i].type > JP_HEAP_ROOT) {
			info->unrooted_bytes += h->heap.objects[i].bytes;
			info->unrooted_objects++;
		}
	info->bytes = w->bytes[h->heap.count];
	info->objects = w->objects[h->heap.count];
	w->least = (uint64_t)(least_kept_part * (double)info->bytes) + 1;
	w->least_lone = (uint64_t)(lone_part * (double)info->bytes) + 1;
	return 0;
}

/* ---- the keepers ------------------------------------------------------------------------------------------------ */

/* What is in a node, as far as it is looked into. */
struct inside {
	uint32_t largest; /* JP_NONE: nothing */
	uint64_t large;   /* bytes of all that have a row's */
	uint32_t count;   /* of these */
	uint32_t alike;   /* and of those that are like the largest, if there are many */
};

/* Nothing is below it that could be a keeper. */
static bool is_leaf(const struct jp_weights *w, uint32_t node)
{
	return (w->chosen && w->chosen[node] && !w->alone) ||
	       w->tree.first_child[node] == w->tree.first_child[node + 1];
}

/* A large one that a root or a class refers to by itself. */
static bool is_lone(const struct jp_weights *w, uint32_t node)
{
	const struct jp_heap *heap = &w->h->heap;
	uint32_t above = w->h->way[node];
	return w->bytes[node] >= w->least_lone && above < heap->count && heap->objects[above].type >= JP_HEAP_ROOT &&
	       heap->objects[above].type <= JP_HEAP_MODULE;
}

/* A list whose elements are linked ends nowhere: its first element stands for it. */
static bool are_alike_objects(const struct jp_heap *heap, uint32_t a, uint32_t b)
{
	return heap->objects[a].type == heap->objects[b].type &&
	       heap->objects[a].class_node == heap->objects[b].class_node && heap->objects[a].type > JP_HEAP_ICLASS &&
	       heap->objects[a].type != JP_HEAP_IMEMO;
}

static struct inside look_into_node(const struct jp_weights *w, uint32_t node)
{
	const struct jp_tree *t = &w->tree;
	struct inside in = { .largest = JP_NONE };
	for (uint32_t i = t->first_child[node]; i < t->first_child[node + 1]; i++) {
		uint32_t child = t->children[i];
		if (is_leaf(w, child) && !is_lone(w, child))
			continue;
		if (w->bytes[child] >= w->least) {
			in.large += w->bytes[child];
			in.count++;
		}
		if (in.largest == JP_NONE || w->bytes[child] > w->bytes[in.largest])
			in.largest = child;
	}
	for (uint32_t i = t->first_child[node]; in.count > most_alike && i < t->first_child[node + 1]; i++)
		in.alike +=
		    w->bytes[t->children[i]] >= w->least && are_alike_objects(&w->h->heap, t->children[i], in.largest);
	return in;
}

enum step { IS_KEEPER, GIVES_WAY, IS_NOTHING };

static enum step step_at(const struct jp_weights *w, uint32_t node, struct inside *in)
{
	const struct jp_heap *heap = &w->h->heap;
	enum jp_heap_type type = node < heap->count ? (enum jp_heap_type)heap->objects[node].type : JP_HEAP_ROOT;
	double bytes = (double)w->bytes[node];
	*in = look_into_node(w, node);
	bool one = in->largest != JP_NONE && (double)w->bytes[in->largest] >= one_makes_most * bytes;
	if (jp_heap_is_root(heap, node, "finalizers") || jp_heap_is_root(heap, node, "end_proc"))
		return one ? GIVES_WAY : IS_KEEPER;
	switch (type) {
	case JP_HEAP_ROOT:
	case JP_HEAP_UNKNOWN: return GIVES_WAY;
	case JP_HEAP_CLASS:
	case JP_HEAP_SINGLETON:
	case JP_HEAP_MODULE:
	case JP_HEAP_ICLASS: return in->large ? GIVES_WAY : IS_KEEPER;
	case JP_HEAP_ARRAY:
	case JP_HEAP_HASH: return one && !are_alike_objects(heap, node, in->largest) ? GIVES_WAY : IS_KEEPER;
	default:
		return 2 * in->large >= w->bytes[node] && !(one && are_alike_objects(heap, node, in->largest)) &&
		               (one || in->alike <= most_alike)
		           ? GIVES_WAY
		           : IS_KEEPER;
	}
}

static int add_keeper_row(struct jprof_keepers *k, const struct jp_weights *w, uint32_t node)
{
	if (jp_array_push(k->rows, k->count, k->cap))
		return -1;
	k->rows[k->count++] = (struct keeper_row){ .node = node,
		                                   .keeper = { .keeps = w->bytes[node],
		                                               .own = w->h->heap.objects[node].bytes,
		                                               .objects = w->objects[node] } };
	return 0;
}

/* Whether a large thing inside `node` is looked at in its turn. What a root refers to keeps itself; a single object
 * that several keep is nobody's. Of samples one makes a thing large: an element that several keep is left to
 * find_shared. */
static bool may_be_keeper(const struct jp_weights *w, uint32_t node, uint32_t child)
{
	const struct jp_heap *heap = &w->h->heap;
	bool of_ruby = node >= heap->count || heap->objects[node].type <= JP_HEAP_ROOT;
	uint32_t above = w->h->way[child];
	bool is_element = above < heap->count &&
	                  (heap->objects[above].type == JP_HEAP_ARRAY || heap->objects[above].type == JP_HEAP_HASH);
	if (w->alone && of_ruby && is_element)
		return false;
	bool bare = w->alone && of_ruby && w->chosen[child] && w->bytes[child] == jp_chosen_bytes(w, child, false);
	if (w->bytes[child] < w->least || (!is_leaf(w, child) && !bare) || is_lone(w, child))
		return w->bytes[child] >= w->least;
	return of_ruby && above < heap->count && heap->objects[above].type == JP_HEAP_ROOT;
}

/* Who keeps: nodes of which none is above another. */
static int find_keepers(struct jprof_keepers *k, const struct jp_weights *w)
{
	const struct jprof_rubyheap *h = w->h;
	const struct jp_tree *t = &w->tree;
	uint32_t *open = malloc((h->heap.count + (size_t)1) * sizeof *open), count = 0;
	bool failed = !open;
	if (open)
		open[count++] = h->heap.count;
	while (!failed && count) {
		uint32_t node = open[--count];
		struct inside in;
		enum step step = step_at(w, node, &in);
		if (step == IS_KEEPER)
			failed = add_keeper_row(k, w, node);
		for (uint32_t i = t->first_child[node]; step == GIVES_WAY && i < t->first_child[node + 1]; i++)
			if (may_be_keeper(w, node, t->children[i]))
				open[count++] = t->children[i];
	}
	free(open);
	return failed ? -1 : 0;
}

/* ---- what several keep ------------------------------------------------------------------------------------------ */

/* The short ways from a root as a tree, in one piece of memory, which is to be freed. NULL when memory is short. */
static uint32_t *grow_ways(const struct jprof_rubyheap *h, struct jp_tree *t)
{
	size_t nodes = h->heap.graph.nodes;
	uint32_t *first = calloc(3 * nodes + 2, sizeof *first), *children = first + nodes + 2,
		 *order = children + nodes;
	if (!first)
		return NULL;
	*t = (struct jp_tree){ .above = h->way, .order = order, .first_child = first, .children = children };
	for (uint32_t i = 0; i < h->heap.count; i++)
		if (h->way[i] != JP_NONE)
			first[(size_t)h->way[i] + 2]++;
	for (size_t i = 1; i <= nodes; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < h->heap.count; i++)
		if (h->way[i] != JP_NONE)
			children[first[(size_t)h->way[i] + 1]++] = i;
	order[t->reached++] = h->heap.count;
	for (uint32_t at = 0; at < t->reached; at++)
		for (uint32_t i = first[order[at]]; i < first[order[at] + 1]; i++)
			order[t->reached++] = children[i];
	return first;
}

/* Of each node the row whose keeper dominates it; JP_NONE: none does. NULL when memory is short. */
static uint32_t *rows_by_dominators(const struct jprof_keepers *k, const struct jprof_rubyheap *h)
{
	const struct jp_dominators *d = &h->dominators;
	uint32_t *row_of = jp_none_array(h->heap.graph.nodes);
	for (size_t i = 0; row_of && i < k->count; i++) {
		const struct jp_crowd *crowd = k->rows[i].crowd;
		if (!k->rows[i].shared)
			row_of[k->rows[i].node] = (uint32_t)i;
		for (size_t m = 0; crowd && m < crowd->count; m++)
			row_of[crowd->members[m].node] = (uint32_t)i;
	}
	for (uint32_t i = 1; row_of && i < d->reached; i++) {
		uint32_t *row = &row_of[d->order[i]];
		*row = *row == JP_NONE ? row_of[d->idom[d->order[i]]] : *row;
	}
	return row_of;
}

static void weigh_shared(struct jp_weights *w, const uint32_t *row_of)
{
	const struct jp_tree *t = &w->tree;
	for (uint32_t i = 1; i < t->reached; i++) {
		uint32_t node = t->order[i];
		bool counts = row_of[node] == JP_NONE;
		w->bytes[node] = counts ? jp_chosen_bytes(w, node, false) : 0;
		w->objects[node] = counts ? jp_chosen_objects(w, node) : 0;
	}
	for (uint32_t i = t->reached - 1; i > 0; i--) {
		w->bytes[t->above[t->order[i]]] += w->bytes[t->order[i]];
		w->objects[t->above[t->order[i]]] += w->objects[t->order[i]];
	}
}

/* A row that is there already has these objects, too. */
static void join_rows(struct jprof_keepers *k, size_t before)
{
	size_t count = before;
	for (size_t i = before; i < k->count; i++) {
		size_t same = 0;
		while (same < before && (k->rows[same].crowd || k->rows[same].node != k->rows[i].node))
			same++;
		struct keeper_row *row = &k->rows[same < before ? same : count++];
		if (same < before) {
			row->keeper.keeps += k->rows[i].keeper.keeps;
			row->keeper.objects += k->rows[i].keeper.objects;
		} else {
			*row = k->rows[i];
			row->shared = true;
		}
		row->by_ways = true;
	}
	k->count = count;
}

/* Of a choice: what no keeper has alone, as objects that two Hashes have, is kept by what lies on the short way to it,
 * and by others. `w` is left with the tree and the weights of these. NULL when memory is short. */
static uint32_t *find_shared(struct jprof_keepers *k, struct jp_weights *w)
{
	size_t nodes = w->h->heap.graph.nodes, before = k->count;
	uint32_t *row_of = rows_by_dominators(k, w->h), *ways = grow_ways(w->h, &w->tree);
	if (row_of && ways) {
		memset(w->bytes, 0, nodes * sizeof *w->bytes);
		memset(w->objects, 0, nodes * sizeof *w->objects);
		weigh_shared(w, row_of);
	}
	bool failed = !row_of || !ways || (w->bytes[w->h->heap.count] >= w->least && find_keepers(k, w));
	if (!failed)
		join_rows(k, before);
	free(row_of);
	if (failed)
		free(ways);
	return failed ? NULL : ways;
}

/* ---- what many classes keep ---------------------------------------------------------------------------------------
 */

/* Rows of what is in it give way: they keep nothing then. */
static int add_crowd_row(struct jprof_keepers *k, const struct jp_weights *w, const struct jp_crowd *crowd,
                         const uint32_t *row_of)
{
	struct keeper_row row = { .node = crowd->members->node, .crowd = crowd, .keeper = { .keeps = crowd->bytes } };
	for (size_t i = 0; i < crowd->count; i++) {
		uint32_t node = crowd->members[i].node;
		row.keeper.own += w->h->heap.objects[node].bytes;
		row.keeper.objects += w->objects[node];
		if (row_of[node] != JP_NONE)
			k->rows[row_of[node]].keeper.keeps = 0;
	}
	if (jp_array_push(k->rows, k->count, k->cap))
		return -1;
	k->rows[k->count++] = row;
	return 0;
}

static int find_crowds(struct jprof_keepers *k, const struct jp_weights *w)
{
	uint32_t *row_of = rows_by_dominators(k, w->h), *keepers = malloc((k->count + 1) * sizeof *keepers);
	size_t kept = 0;
	for (size_t i = 0; keepers && i < k->count; i++)
		keepers[i] = k->rows[i].node;
	bool failed = !row_of || !keepers || jp_crowds_find(&k->crowds, w, row_of, keepers, k->count);
	for (size_t i = 0; !failed && i < k->crowds.count; i++)
		failed = add_crowd_row(k, w, &k->crowds.items[i], row_of);
	for (size_t i = 0; i < k->count; i++)
		if (k->rows[i].keeper.keeps)
			k->rows[kept++] = k->rows[i];
	k->count = kept;
	free(row_of);
	free(keepers);
	return failed ? -1 : 0;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static int by_kept_bytes(const void *a, const void *b)
{
	const struct keeper_row *x = a, *y = b;
	return jp_order_by(y->keeper.keeps, x->keeper.keeps, jp_order(x->node, y->node));
}

/* Nodes by their row: members[first[row]] up to, but without, members[first[row + 1]]. */
struct members {
	uint32_t *first, *nodes;
	uint32_t *row_of; /* of each node, JP_NONE: it is in no row */
};

/* Gives nodes that no keeper dominates the row to which their way leads. 0, or -1 when memory is short. */
static int add_shared_nodes(const struct jprof_keepers *k, const struct jp_weights *shared, uint32_t *row_of)
{
	const struct jp_tree *t = &shared->tree;
	uint32_t *near = jp_none_array(shared->h->heap.graph.nodes);
	if (!near)
		return -1;
	for (size_t i = 0; i < k->count; i++)
		if (k->rows[i].by_ways)
			near[k->rows[i].node] = (uint32_t)i;
	for (uint32_t i = 1; i < t->reached; i++) {
		uint32_t node = t->order[i];
		near[node] = near[node] == JP_NONE ? near[t->above[node]] : near[node];
		row_of[node] = row_of[node] == JP_NONE ? near[node] : row_of[node];
	}
	free(near);
	return 0;
}

static int find_kept_nodes(const struct jprof_keepers *k, const struct jp_weights *shared, struct members *m)
{
	const struct jprof_rubyheap *h = shared->h;
	const struct jp_dominators *d = &h->dominators;
	uint32_t *row_of = m->row_of = rows_by_dominators(k, h);
	m->first = calloc(k->count + 2, sizeof *m->first);
	m->nodes = malloc(d->reached * sizeof *m->nodes);
	if (!row_of || !m->first || !m->nodes || add_shared_nodes(k, shared, row_of))
		return -1;
	for (uint32_t i = 1; i < d->reached; i++)
		if (row_of[d->order[i]] != JP_NONE)
			m->first[row_of[d->order[i]] + 2]++;
	for (size_t i = 1; i <= k->count; i++)
		m->first[i + 1] += m->first[i];
	for (uint32_t i = 1; i < d->reached; i++)
		if (row_of[d->order[i]] != JP_NONE)
			m->nodes[m->first[row_of[d->order[i]] + 1]++] = d->order[i];
	return 0;
}

/* Bytes by the line that allocated them. `sums` has a place for each word, all 0 between two rows. */
struct making {
	uint64_t *sums, all;
	uint32_t site, method; /* of the most so far */
};

static void add_made(struct making *m, uint32_t site, uint32_t method, uint64_t bytes)
{
	m->all += bytes;
	if (site == JP_NONE)
		return;
	m->sums[site] += bytes;
	if (m->site == JP_NONE || m->sums[site] > m->sums[m->site]) {
		m->site = site;
		m->method = method;
	}
}

/* How many samples of the row there are: all are looked through, for of nodes there are a thousand times as many. */
static size_t add_made_by_samples(struct making *m, const struct jp_weights *w, const struct members *members,
                                  size_t row)
{
	const struct jp_heap *heap = &w->h->heap;
	size_t count = 0;
	for (size_t i = 0; i < heap->sample_count; i++) {
		const struct jp_heap_sample *sample = &heap->samples[i];
		if (members->row_of[sample->node] != row || (w->chosen && !w->chosen[sample->node]) ||
		    (w->picked && !w->picked[i]))
			continue;
		add_made(m, sample->site, sample->method, (uint64_t)sample->bytes);
		count++;
	}
	return count;
}

static void clear_sums(struct making *m, const struct jp_heap *heap, const uint32_t *begin, const uint32_t *end)
{
	for (const uint32_t *node = begin; node < end; node++)
		if (heap->objects[*node].site != JP_NONE)
			m->sums[heap->objects[*node].site] = 0;
	for (size_t i = 0; i < heap->sample_count; i++)
		if (heap->samples[i].site != JP_NONE)
			m->sums[heap->samples[i].site] = 0;
}

/* The line that allocated most of a row's objects; of a heap with samples most of those. Where these stand for less
 * than half of the bytes it is not known; a choice of samples has no others. */
static void find_making_line(const struct jp_weights *w, const struct members *members, size_t row, struct making *m,
                             struct jprof_keeper *keeper)
{
	const struct jp_heap *heap = &w->h->heap;
	const uint32_t *begin = members->nodes + members->first[row], *end = members->nodes + members->first[row + 1];
	uint64_t own = 0;
	m->all = 0;
	m->site = m->method = JP_NONE;
	for (const uint32_t *node = begin; node < end; node++) {
		const struct jp_heap_object *object = &heap->objects[*node];
		if (w->chosen && !w->chosen[*node])
			continue;
		own += object->bytes;
		if (!heap->is_sampled)
			add_made(m, object->site, object->method, object->bytes);
	}
	keeper->made_samples = add_made_by_samples(m, w, members, row);
	bool enough = !heap->is_sampled || w->sampled || m->all >= own - own / 2;
	bool known = enough && m->site != JP_NONE && m->all;
	keeper->made_at = known ? jp_heap_site(heap, m->site) : "";
	keeper->method = known ? jp_heap_word(heap, m->method) : "";
	keeper->made_share = known ? (double)m->sums[m->site] / (double)m->all : 0;
	clear_sums(m, heap, begin, end);
}

/* "a Hash of 180,000 in Shop::CACHE and others": others keep these objects, too. */
static const char *with_others(const char *text, struct jp_arena *texts)
{
	static const char others[] = " and others";
	size_t len = strlen(text), more = sizeof others - 1;
	if (len >= more && !strcmp(text + len - more, others))
		return text;
	struct jp_strbuf longer = { 0 };
	jp_strbuf_printf(&longer, "%s%s", text, others);
	const char *kept = longer.failed ? NULL : jp_arena_dup(texts, longer.text, longer.len);
	jp_strbuf_release(&longer);
	return kept;
}

static int describe_keepers(struct jprof_keepers *k, const struct jp_weights *w, const struct jp_weights *shared)
{
	const struct jprof_rubyheap *h = w->h;
	struct members m = { 0 };
	struct making making = { .sums = calloc(h->heap.words.count + (size_t)1, sizeof *making.sums) };
	uint64_t *of_class = calloc(h->heap.graph.nodes, sizeof *of_class);
	bool failed = !making.sums || !of_class || find_kept_nodes(k, shared, &m);
	for (size_t i = 0; !failed && i < k->count; i++) {
		struct jprof_keeper *keeper = &k->rows[i].keeper;
		uint32_t node = k->rows[i].node;
		find_making_line(w, &m, i, &making, keeper);
		const struct jp_crowd *crowd = k->rows[i].crowd;
		const uint64_t *bytes = k->rows[i].shared ? shared->bytes : w->bytes;
		keeper->site = crowd ? "" : jp_heap_site(&h->heap, h->heap.objects[node].site);
		keeper->what = crowd ? jp_crowd_what(h, crowd, &k->texts) : jp_keeper_what(h, node, &k->texts);
		keeper->holder = crowd ? "" : jp_keeper_holder(h, node, &k->texts);
		keeper->path = crowd ? jp_crowd_path(h, crowd, bytes, of_class, &k->texts)
		                     : jp_keeper_path(h, node, bytes, of_class, &k->texts);
		failed = !keeper->what || !keeper->holder || !keeper->path;
		if (!failed && k->rows[i].shared) {
			const char **last = *keeper->holder ? &keeper->holder : &keeper->what;
			failed = !(*last = with_others(*last, &k->texts));
		}
	}
	free(making.sums);
	free(of_class);
	free(m.first);
	free(m.nodes);
	free(m.row_of);
	return failed ? -1 : 0;
}

/* All of it, once the choice is made. */
static int fill_keepers(struct jprof_keepers *k, struct jp_weights *w)
{
	const struct jprof_rubyheap *h = w->h;
	const struct jp_dominators *d = &h->dominators;
	size_t nodes = h->heap.graph.nodes;
	struct jp_weights shared;
	uint32_t *ways = NULL;
	w->tree = (struct jp_tree){ d->idom, d->order, h->first_child, h->children, d->reached };
	bool failed = weigh_objects(w, &k->info) || find_keepers(k, w) || find_crowds(k, w);
	shared = *w;
	shared.tree = (struct jp_tree){ 0 };
	shared.bytes = calloc(nodes, sizeof *shared.bytes);
	shared.objects = calloc(nodes, sizeof *shared.objects);
	failed = failed || !shared.bytes || !shared.objects || (w->alone && !(ways = find_shared(k, &shared)));
	if (!failed && k->count)
		qsort(k->rows, k->count, sizeof *k->rows, by_kept_bytes);
	failed = failed || describe_keepers(k, w, &shared);
	free(ways);
	free(shared.bytes);
	free(shared.objects);
	return failed ? -1 : 0;
}

int jprof_keepers_new(const struct jprof_rubyheap *heap, const struct jprof_keepers_opts *given,
                      struct jprof_keepers **keepers, struct jprof_error *err)
{
	struct jprof_keepers_opts opts;
	if (jp_null(err, heap, keepers) || jp_opts_take(&opts, sizeof opts, given, err))
		return JPROF_E_ARGUMENT;
	size_t nodes = heap->heap.graph.nodes;
	struct jp_weights w = { .h = heap,
		                .bytes = calloc(nodes, sizeof *w.bytes),
		                .objects = calloc(nodes, sizeof *w.objects) };
	struct jprof_keepers *k = calloc(1, sizeof *k);
	w.sampled = heap->heap.is_sampled && (opts.line || opts.site);
	w.alone = opts.born || w.sampled;
	int rc = k && w.bytes && w.objects ? jp_choose_objects(&w, &opts, err) : jp_error_nomem(err);
	if (!rc && fill_keepers(k, &w))
		rc = jp_error_nomem(err);
	free(w.bytes);
	free(w.objects);
	free(w.chosen);
	free(w.picked);
	if (rc)
		jprof_keepers_free(k);
	else
		*keepers = k;
	return rc;
}

const struct jprof_keepers_info *jprof_keepers_info(const struct jprof_keepers *keepers)
{
	return keepers ? &keepers->info : NULL;
}

size_t jprof_keepers_count(const struct jprof_keepers *keepers)
{
	return keepers ? keepers->count : 0;
}

const struct jprof_keeper *jprof_keepers_at(const struct jprof_keepers *keepers, size_t i)
{
	return keepers && i < keepers->count ? &keepers->rows[i].keeper : NULL;
}

void jprof_keepers_free(struct jprof_keepers *keepers)
{
	if (!keepers)
		return;
	free(keepers->rows);
	jp_crowds_release(&keepers->crowds);
	jp_arena_release(&keepers->texts);
	free(keepers);
}
