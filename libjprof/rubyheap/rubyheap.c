#include "rubyheap/rubyheap.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "rubyheap/heapgraph.h"

const char *jp_heap_word(const struct jp_heap *heap, uint32_t word)
{
	return word == JP_NONE ? "" : jp_intern_get(&heap->words, word);
}

const char *jp_heap_site(const struct jp_heap *heap, uint32_t site)
{
	const char *word = jp_heap_word(heap, site), *directory = heap->directory ? heap->directory : "";
	size_t len = strlen(directory);
	bool below = len > 1 && !strncmp(word, directory, len) && word[len] == '/' && word[len + 1];
	return below ? word + len + 1 : word;
}

void jp_heap_samples(const struct jp_heap *heap, uint32_t node, const struct jp_heap_sample **first,
                     const struct jp_heap_sample **end)
{
	size_t at = jp_count_below(heap->samples, heap->sample_count, sizeof *heap->samples, node);
	*first = *end = NULL;
	if (at == heap->sample_count)
		return;
	*first = *end = heap->samples + at;
	while (*end < heap->samples + heap->sample_count && (*end)->node == node)
		++*end;
}

const char *jp_heap_class(const struct jp_heap *heap, uint32_t node)
{
	uint32_t class_node = node < heap->count ? heap->objects[node].class_node : JP_NONE;
	bool named = class_node != JP_NONE && (heap->objects[class_node].type == JP_HEAP_CLASS ||
	                                       heap->objects[class_node].type == JP_HEAP_SINGLETON);
	return named ? jp_heap_word(heap, heap->objects[class_node].name) : "";
}

static bool is_data_named(const struct jp_heap *heap, uint32_t node, const char *type)
{
	return node < heap->count && heap->objects[node].type == JP_HEAP_DATA &&
	       !strcmp(jp_heap_word(heap, heap->objects[node].name), type);
}

bool jp_heap_is_thread(const struct jp_heap *heap, uint32_t node)
{
	return is_data_named(heap, node, "VM/thread") || is_data_named(heap, node, "fiber");
}

bool jp_heap_is_ractor(const struct jp_heap *heap, uint32_t node)
{
	return node < heap->count && heap->objects[node].type == JP_HEAP_DATA &&
	       !strcmp(jp_heap_class(heap, node), "Ractor");
}

bool jp_heap_is_root(const struct jp_heap *heap, uint32_t node, const char *kind)
{
	return node < heap->count && heap->objects[node].type == JP_HEAP_ROOT &&
	       !strcmp(jp_heap_word(heap, heap->objects[node].name), kind);
}

/* Ways that last come before those through the stacks of threads and fibers. */
static bool is_of_stack(const struct jp_heap *heap, uint32_t node)
{
	return jp_heap_is_thread(heap, node) || jp_heap_is_root(heap, node, "machine_context");
}

/* A walk in breadth: queue[0..end) was reached. */
struct breadth {
	struct jprof_rubyheap *h;
	uint32_t *queue, end;
};

static void reach(struct breadth *b, uint32_t node, uint32_t from)
{
	if (b->h->way[node] != JP_NONE)
		return;
	b->h->way[node] = from;
	b->queue[b->end++] = node;
}

/* `fibers`: those that it refers to, too. A fiber refers to the one that called it, which it does not keep for long. */
static void reach_next(struct breadth *b, uint32_t from, bool fibers)
{
	const struct jp_heap *heap = &b->h->heap;
	const struct jp_graph *graph = &heap->graph;
	for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++)
		if (fibers || !is_data_named(heap, graph->to[e], "fiber"))
			reach(b, graph->to[e], from);
}

/* The globals first: of two ways of one length the first is taken. Ways through stacks come last. */
static int find_shortest_ways(struct jprof_rubyheap *h)
{
	const struct jp_heap *heap = &h->heap;
	const uint32_t ruby = heap->count, *roots = heap->graph.to + heap->graph.first[ruby];
	uint32_t root_count = heap->graph.first[ruby + 1] - heap->graph.first[ruby];
	struct breadth b = { .h = h, .queue = malloc((heap->count + (size_t)1) * sizeof *b.queue) };
	h->way = jp_none_array(heap->count + (size_t)1);
	if (!b.queue || !h->way) {
		free(b.queue);
		return -1;
	}
	h->way[ruby] = ruby;
	for (uint32_t i = 0; i < root_count; i++)
		if (jp_heap_is_root(heap, roots[i], "global_tbl"))
			reach(&b, roots[i], ruby);
	for (uint32_t i = 0; i < root_count; i++)
		reach(&b, roots[i], ruby);
	for (uint32_t at = 0; at < b.end; at++)
		if (!is_of_stack(heap, b.queue[at]))
			reach_next(&b, b.queue[at], true);
	uint32_t before_stacks = b.end;
	for (uint32_t at = 0; at < before_stacks; at++)
		if (is_of_stack(heap, b.queue[at]))
			reach_next(&b, b.queue[at], !is_data_named(heap, b.queue[at], "fiber"));
	for (uint32_t at = before_stacks; at < b.end; at++)
		reach_next(&b, b.queue[at], !is_data_named(heap, b.queue[at], "fiber"));
	for (uint32_t at = 0; at < b.end; at++)
		reach_next(&b, b.queue[at], true);
	free(b.queue);
	return 0;
}

static int sum_kept(struct jprof_rubyheap *h)
{
	const struct jp_dominators *d = &h->dominators;
	uint32_t nodes = h->heap.graph.nodes;
	h->keeps = calloc(nodes, sizeof *h->keeps);
	h->first_child = calloc((size_t)nodes + 2, sizeof *h->first_child);
	h->children = malloc(nodes * sizeof *h->children);
	if (!h->keeps || !h->first_child || !h->children)
		return -1;
	for (uint32_t i = 0; i < h->heap.count; i++)
		h->keeps[i] = h->heap.objects[i].bytes;
	for (uint32_t i = d->reached - 1; i > 0; i--) {
		h->keeps[d->idom[d->order[i]]] += h->keeps[d->order[i]];
		h->first_child[(size_t)d->idom[d->order[i]] + 2]++;
	}
	for (uint32_t i = 1; i <= nodes; i++)
		h->first_child[i + 1] += h->first_child[i];
	for (uint32_t i = 1; i < d->reached; i++)
		h->children[h->first_child[(size_t)d->idom[d->order[i]] + 1]++] = d->order[i];
	return 0;
}

static void fill_info(struct jprof_rubyheap *h)
{
	struct jprof_rubyheap_info *info = &h->info;
	for (uint32_t i = 0; i < h->heap.count; i++) {
		const struct jp_heap_object *object = &h->heap.objects[i];
		if (object->type == JP_HEAP_ROOT || object->type == JP_HEAP_UNKNOWN)
			continue;
		bool kept = h->dominators.idom[i] != JP_NONE;
		info->objects++;
		info->bytes += object->bytes;
		info->unrooted_objects += !kept;
		info->unrooted_bytes += kept ? 0 : object->bytes;
		info->has_lines |= object->site != JP_NONE;
	}
	info->cut = h->heap.cut;
	for (uint32_t e = 0; h->heap.edge_names && e < h->heap.graph.first[h->heap.graph.nodes]; e++)
		info->named_edges |= h->heap.edge_names[e] != JP_NONE;
}

/* Of one that was read, with what came of that. */
static int conclude_rubyheap(struct jprof_rubyheap *h, int rc, struct jprof_rubyheap **heap, struct jprof_error *err)
{
	if (!rc &&
	    (jp_dominators(&h->heap.graph, h->heap.count, &h->dominators) || find_shortest_ways(h) || sum_kept(h)))
		rc = jp_error_nomem(err);
	if (rc) {
		jprof_rubyheap_free(h);
		return rc;
	}
	fill_info(h);
	*heap = h;
	return 0;
}

int jprof_rubyheap_open(const char *path, struct jprof_rubyheap **heap, struct jprof_error *err)
{
	if (jp_null(err, path, heap))
		return JPROF_E_ARGUMENT;
	struct jprof_rubyheap *h = calloc(1, sizeof *h);
	if (!h)
		return jp_error_nomem(err);
	return conclude_rubyheap(h, jp_heap_read(&h->heap, path, false, err), heap, err);
}

int jprof_rubyheap_parse(const void *data, size_t len, const char *name, struct jprof_rubyheap **heap,
                         struct jprof_error *err)
{
	if (jp_null(err, data, name, heap))
		return JPROF_E_ARGUMENT;
	struct jprof_rubyheap *h = calloc(1, sizeof *h);
	if (!h)
		return jp_error_nomem(err);
	return conclude_rubyheap(h, jp_heap_read_graph(&h->heap, data, len, name, err), heap, err);
}

const struct jprof_rubyheap_info *jprof_rubyheap_info(const struct jprof_rubyheap *heap)
{
	return heap ? &heap->info : NULL;
}

void jprof_rubyheap_free(struct jprof_rubyheap *heap)
{
	if (!heap)
		return;
	jp_heap_release(&heap->heap);
	jp_dominators_release(&heap->dominators);
	free(heap->keeps);
	free(heap->way);
	free(heap->children);
	free(heap->first_child);
	free(heap->born);
	free(heap);
}
