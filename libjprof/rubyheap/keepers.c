/* Which objects keep most of a Ruby's heap. The tree of dominators is walked from its root on: what holds different
 * things (Ruby, a class, an object) gives way to those of them that are large, a container stands for its elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/pattern.h"
#include "base/search.h"
#include "rubyheap/keeperwords.h"

/* A keeper has a row from this part of all bytes on. */
static const double least_kept_part = 0.005;

/* One element makes most of a container: then it is the keeper. */
static const double one_makes_most = 0.6;

/* A single object that a constant or variable refers to is a keeper from this part of all bytes on: a String that
 * grows. */
static const double lone_part = 0.1;

/* More threads than these are not told one by one. */
enum { most_threads = 5 };

struct keeper_row {
	struct jprof_keeper keeper;
	uint32_t node;
};

struct jprof_keepers {
	struct jprof_keepers_info info;
	struct keeper_row *rows;
	size_t count, cap;
	struct jp_arena texts;
};

/* What the find_keepers looks at: all, or a choice of objects with what they keep. */
struct weights {
	const struct jprof_rubyheap *h;
	uint64_t *bytes;   /* of each node and what it dominates */
	uint64_t *objects; /* likewise */
	bool *chosen;      /* those of the choice; NULL: all are */
	bool sampled;      /* the choice is by lines, which samples alone have */
	bool *picked;      /* of each sample; NULL: blocks have none, and an object's sample stands for all of it */
	enum jp_heap_part silent; /* the samples of this part say nothing of the number of objects */
	bool alone;               /* each of the choice counts alone, and may keep others of it */
	uint64_t least;           /* bytes of a row */
	uint64_t least_lone;      /* likewise, of a single object */
};

/* ---- the choice ----------------------------------------------------------------------------------------------- */

/* `made_at`: the line that allocated it, or a part of it. */
static bool is_chosen_object(const struct jprof_rubyheap *h, uint32_t node, uint32_t made_at,
                             const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                             struct jp_pattern *class_name)
{
	const struct jp_heap *heap = &h->heap;
	const char *site = jp_heap_word(heap, made_at), *class_is = jp_heap_class(heap, node);
	if (heap->objects[node].type == JP_HEAP_ROOT || heap->objects[node].type == JP_HEAP_UNKNOWN)
		return false;
	return (!line || (*site && jp_pattern_found(line, site, strlen(site)))) &&
	       (!class_name || (*class_is && jp_pattern_found(class_name, class_is, strlen(class_is)))) &&
	       (!opts->site || !strcmp(opts->site, site)) && (!opts->born || (h->born && h->born[node]));
}

static int choose_each(struct weights *w, const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                       struct jp_pattern *class_name, struct jprof_error *err)
{
	int rc = 0;
	for (uint32_t i = 0; !rc && i < w->h->heap.count; i++) {
		w->chosen[i] = is_chosen_object(w->h, i, w->h->heap.objects[i].site, opts, line, class_name);
		rc = jp_pattern_check(line, "line", err);
		rc = rc ? rc : jp_pattern_check(class_name, "class", err);
	}
	return rc;
}

/* An object that has a block is counted by its slot or by that: by whichever has more samples. */
static int choose_sampled(struct weights *w, const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                          struct jp_pattern *class_name, struct jprof_error *err)
{
	const struct jp_heap *heap = &w->h->heap;
	size_t by_slot = 0, by_buffer = 0;
	w->picked = calloc(heap->sample_count + 1, sizeof *w->picked);
	int rc = w->picked ? 0 : jp_error_nomem(err);
	for (size_t i = 0; !rc && i < heap->sample_count; i++) {
		const struct jp_heap_sample *sample = &heap->samples[i];
		uint32_t node = (uint32_t)sample->node;
		w->picked[i] = is_chosen_object(w->h, node, sample->site, opts, line, class_name);
		w->chosen[node] = w->chosen[node] || w->picked[i];
		by_slot += w->picked[i] && sample->part == JP_PART_SLOT;
		by_buffer += w->picked[i] && sample->part == JP_PART_BUFFER && sample->objects > 0;
		rc = jp_pattern_check(line, "line", err);
		rc = rc ? rc : jp_pattern_check(class_name, "class", err);
	}
	w->silent = by_slot > by_buffer ? JP_PART_BUFFER : JP_PART_SLOT;
	return rc;
}

static int choose_objects(struct weights *w, const struct jprof_keepers_opts *opts, struct jprof_error *err)
{
	struct jp_pattern *line = NULL, *class_name = NULL;
	if (!opts->line && !opts->class_name && !opts->site && !opts->born)
		return 0;
	int rc = opts->line ? jp_pattern_new(opts->line, "line", &line, err) : 0;
	if (!rc && opts->class_name)
		rc = jp_pattern_new(opts->class_name, "class", &class_name, err);
	w->chosen = rc ? NULL : calloc(w->h->heap.count + (size_t)1, sizeof *w->chosen);
	if (!rc && !w->chosen)
		rc = jp_error_nomem(err);
	if (!rc)
		rc = (w->sampled && w->h->heap.has_buffers ? choose_sampled : choose_each)(w, opts, line, class_name,
		                                                                           err);
	jp_pattern_free(line);
	jp_pattern_free(class_name);
	return rc;
}

/* What an object's samples of a choice stand for. */
struct stood_for {
	double bytes, objects;
};

static struct stood_for picked_of(const struct weights *w, uint32_t node)
{
	const struct jp_heap *heap = &w->h->heap;
	const struct jp_heap_sample *sample, *end;
	struct stood_for sum = { 0, 0 };
	for (jp_heap_samples(heap, node, &sample, &end); sample < end; sample++)
		if (w->picked[sample - heap->samples]) {
			sum.bytes += sample->bytes;
			sum.objects += sample->part == w->silent ? 0 : sample->objects;
		}
	return sum;
}

/* What an object counts in a choice. Of one that is kept by another such the bytes are in that one's; of sampled ones
 * nobody knows that, so that each has its own bytes, for all that it stands for. */
static uint64_t chosen_bytes(const struct weights *w, uint32_t node, bool below)
{
	const struct jprof_rubyheap *h = w->h;
	if (!w->chosen[node])
		return 0;
	if (w->picked)
		return (uint64_t)picked_of(w, node).bytes;
	if (w->sampled)
		return (uint64_t)((double)h->heap.stands_for[node] * (double)h->heap.objects[node].bytes);
	return w->alone ? h->heap.objects[node].bytes : below ? 0 : h->keeps[node];
}

static uint64_t chosen_objects(const struct weights *w, uint32_t node)
{
	if (!w->sampled)
		return w->chosen[node];
	if (!w->chosen[node])
		return 0;
	double objects = w->picked ? picked_of(w, node).objects : (double)w->h->heap.stands_for[node];
	return (uint64_t)(objects + 0.5);
}

static int weigh_objects(struct weights *w, struct jprof_keepers_info *info)
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
		w->objects[node] = w->chosen ? chosen_objects(w, node) : object->type > JP_HEAP_ROOT;
		w->bytes[node] = w->chosen ? chosen_bytes(w, node, below[node]) : object->bytes;
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

/* ---- the find_keepers
 * --------------------------------------------------------------------------------------------------- */

/* What is in a node, as far as it is looked into. */
struct inside {
	uint32_t largest; /* JP_NONE: nothing */
	uint64_t large;   /* bytes of all that have a row's */
	uint32_t count;   /* of these */
};

/* Nothing is below it that could be a keeper. */
static bool is_leaf(const struct weights *w, uint32_t node)
{
	const struct jprof_rubyheap *h = w->h;
	return (w->chosen && w->chosen[node] && !w->alone) || h->first_child[node] == h->first_child[node + 1];
}

/* A large one that a root or a class refers to by itself. */
static bool is_lone(const struct weights *w, uint32_t node)
{
	const struct jp_heap *heap = &w->h->heap;
	uint32_t above = w->h->way[node];
	return w->bytes[node] >= w->least_lone && above < heap->count && heap->objects[above].type >= JP_HEAP_ROOT &&
	       heap->objects[above].type <= JP_HEAP_MODULE;
}

static struct inside look_into_node(const struct weights *w, uint32_t node)
{
	const struct jprof_rubyheap *h = w->h;
	struct inside in = { .largest = JP_NONE };
	for (uint32_t i = h->first_child[node]; i < h->first_child[node + 1]; i++) {
		uint32_t child = h->children[i];
		if (is_leaf(w, child) && !is_lone(w, child))
			continue;
		if (w->bytes[child] >= w->least) {
			in.large += w->bytes[child];
			in.count++;
		}
		if (in.largest == JP_NONE || w->bytes[child] > w->bytes[in.largest])
			in.largest = child;
	}
	return in;
}

/* A list whose elements are linked ends nowhere: its first element stands for it. */
static bool are_alike_objects(const struct jp_heap *heap, uint32_t a, uint32_t b)
{
	return heap->objects[a].type == heap->objects[b].type &&
	       heap->objects[a].class_node == heap->objects[b].class_node && heap->objects[a].type > JP_HEAP_ICLASS &&
	       heap->objects[a].type != JP_HEAP_IMEMO;
}

enum step { IS_KEEPER, GIVES_WAY, IS_NOTHING };

static enum step step_at(const struct weights *w, uint32_t node, struct inside *in)
{
	const struct jp_heap *heap = &w->h->heap;
	enum jp_heap_type type = node < heap->count ? (enum jp_heap_type)heap->objects[node].type : JP_HEAP_ROOT;
	double bytes = (double)w->bytes[node];
	*in = look_into_node(w, node);
	bool one = in->largest != JP_NONE && (double)w->bytes[in->largest] >= one_makes_most * bytes;
	if (jp_heap_is_root(heap, node, "finalizers") || jp_heap_is_root(heap, node, "end_proc"))
		return one ? GIVES_WAY : IS_KEEPER;
	if (jp_heap_is_ractor(heap, node) && in->count > most_threads)
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
		return 2 * in->large >= w->bytes[node] && !(one && are_alike_objects(heap, node, in->largest))
		           ? GIVES_WAY
		           : IS_KEEPER;
	}
}

static int add_keeper_row(struct jprof_keepers *k, const struct weights *w, uint32_t node)
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
 * that several keep is nobody's. */
static bool may_be_keeper(const struct weights *w, uint32_t node, uint32_t child)
{
	const struct jp_heap *heap = &w->h->heap;
	bool of_ruby = node >= heap->count || heap->objects[node].type <= JP_HEAP_ROOT;
	if (w->bytes[child] < w->least || !is_leaf(w, child) || is_lone(w, child))
		return w->bytes[child] >= w->least;
	uint32_t above = w->h->way[child];
	return of_ruby && above < heap->count && heap->objects[above].type == JP_HEAP_ROOT;
}

/* Who keeps: nodes of which none dominates another. */
static int find_keepers(struct jprof_keepers *k, const struct weights *w)
{
	const struct jprof_rubyheap *h = w->h;
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
		for (uint32_t i = h->first_child[node]; step == GIVES_WAY && i < h->first_child[node + 1]; i++)
			if (may_be_keeper(w, node, h->children[i]))
				open[count++] = h->children[i];
	}
	free(open);
	return failed ? -1 : 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

static int by_kept_bytes(const void *a, const void *b)
{
	const struct keeper_row *x = a, *y = b;
	return jp_order_by(y->keeper.keeps, x->keeper.keeps, jp_order(x->node, y->node));
}

/* Nodes by the row whose keeper dominates them: members[first[row]] up to, but without, members[first[row + 1]]. */
struct members {
	uint32_t *first, *nodes;
	uint32_t *row_of; /* of each node, JP_NONE: no row's keeper dominates it */
};

static int find_kept_nodes(const struct jprof_keepers *k, const struct jprof_rubyheap *h, struct members *m)
{
	const struct jp_dominators *d = &h->dominators;
	uint32_t *row_of = m->row_of = jp_none_array(h->heap.graph.nodes);
	m->first = calloc(k->count + 2, sizeof *m->first);
	m->nodes = malloc(d->reached * sizeof *m->nodes);
	if (!row_of || !m->first || !m->nodes)
		return -1;
	for (size_t i = 0; i < k->count; i++)
		row_of[k->rows[i].node] = (uint32_t)i;
	for (uint32_t i = 1; i < d->reached; i++) {
		uint32_t *row = &row_of[d->order[i]];
		*row = *row == JP_NONE ? row_of[d->idom[d->order[i]]] : *row;
		if (*row != JP_NONE)
			m->first[*row + 2]++;
	}
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
static size_t add_made_by_samples(struct making *m, const struct weights *w, const struct members *members, size_t row)
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
static void find_making_line(const struct weights *w, const struct members *members, size_t row, struct making *m,
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
	keeper->made_at = known ? jp_heap_word(heap, m->site) : "";
	keeper->method = known ? jp_heap_word(heap, m->method) : "";
	keeper->made_share = known ? (double)m->sums[m->site] / (double)m->all : 0;
	clear_sums(m, heap, begin, end);
}

static int describe_keepers(struct jprof_keepers *k, const struct weights *w)
{
	const struct jprof_rubyheap *h = w->h;
	struct members m = { 0 };
	struct making making = { .sums = calloc(h->heap.words.count + (size_t)1, sizeof *making.sums) };
	uint64_t *of_class = calloc(h->heap.graph.nodes, sizeof *of_class);
	bool failed = !making.sums || !of_class || find_kept_nodes(k, h, &m);
	for (size_t i = 0; !failed && i < k->count; i++) {
		struct jprof_keeper *keeper = &k->rows[i].keeper;
		uint32_t node = k->rows[i].node;
		find_making_line(w, &m, i, &making, keeper);
		keeper->site = jp_heap_word(&h->heap, h->heap.objects[node].site);
		keeper->what = jp_keeper_what(h, node, &k->texts);
		keeper->holder = jp_keeper_holder(h, node, &k->texts);
		keeper->path = jp_keeper_path(h, node, w->bytes, of_class, &k->texts);
		failed = !keeper->what || !keeper->holder || !keeper->path;
	}
	free(making.sums);
	free(of_class);
	free(m.first);
	free(m.nodes);
	free(m.row_of);
	return failed ? -1 : 0;
}

int jprof_keepers_new(const struct jprof_rubyheap *heap, const struct jprof_keepers_opts *given,
                      struct jprof_keepers **keepers, struct jprof_error *err)
{
	struct jprof_keepers_opts opts;
	if (jp_null(err, heap, keepers) || jp_opts_take(&opts, sizeof opts, given, err))
		return JPROF_E_ARGUMENT;
	size_t nodes = heap->heap.graph.nodes;
	struct weights w = { .h = heap,
		             .bytes = calloc(nodes, sizeof *w.bytes),
		             .objects = calloc(nodes, sizeof *w.objects) };
	struct jprof_keepers *k = calloc(1, sizeof *k);
	w.sampled = heap->heap.is_sampled && (opts.line || opts.site);
	w.alone = opts.born || w.sampled;
	int rc = k && w.bytes && w.objects ? choose_objects(&w, &opts, err) : jp_error_nomem(err);
	if (!rc) {
		rc = weigh_objects(&w, &k->info) || find_keepers(k, &w) ? jp_error_nomem(err) : 0;
	}
	if (!rc && k->count)
		qsort(k->rows, k->count, sizeof *k->rows, by_kept_bytes);
	if (!rc && describe_keepers(k, &w))
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
	jp_arena_release(&keepers->texts);
	free(keepers);
}
