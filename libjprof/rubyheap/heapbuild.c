#include "rubyheap/heapbuild.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* Edges as they are read: `count` of them lead from `from`. */
struct jp_edge_run {
	uint32_t from, count;
};

int jp_heap_ask(struct jp_heap_builder *b, uint64_t address, uint32_t name)
{
	if (jp_array_push(b->asked, b->asked_count, b->asked_cap) ||
	    (b->names_edges && jp_array_push(b->asked_names, b->asked_count, b->asked_names_cap)))
		return jp_error_nomem(b->err);
	if (b->names_edges)
		b->asked_names[b->asked_count] = name;
	b->asked[b->asked_count++] = address;
	return 0;
}

int jp_heap_begin(struct jp_heap_builder *b)
{
	b->asked_count = 0;
	int rc = jp_heap_ask(b, 0, JP_NONE);
	return rc ? rc : jp_heap_ask(b, 0, JP_NONE);
}

/* Their kind is their address. */
static int place_root(struct jp_heap_builder *b, const struct jp_heap_object *object)
{
	if (object->name == JP_NONE)
		return jp_error(b->err, JPROF_E_FORMAT, b->name, b->line, "a root without its kind");
	size_t len = jp_intern_len(&b->heap->words, object->name);
	uint32_t kind = jp_intern(&b->roots, jp_intern_get(&b->heap->words, object->name), len);
	if (kind == JP_NONE)
		return jp_error_nomem(b->err);
	if (kind + 1 >= root_addresses)
		return jp_error(b->err, JPROF_E_FORMAT, b->name, b->line, "more kinds of roots than there are");
	b->asked[own_address] = kind + 1;
	return 0;
}

/* Makes room for the objects of all ids; those that are new are not known yet. */
static int grow_objects(struct jp_heap_builder *b)
{
	struct jp_heap *heap = b->heap;
	if (b->ids.count <= heap->count)
		return 0;
	if (jp_array_reserve(&heap->objects, &b->object_cap, b->ids.count, sizeof *heap->objects) ||
	    (b->texts && jp_array_reserve(&heap->says, &b->says_cap, b->ids.count, sizeof *heap->says)))
		return jp_error_nomem(b->err);
	for (uint32_t id = heap->count; b->texts && id < b->ids.count; id++)
		heap->says[id] = JP_NONE;
	for (uint32_t id = heap->count; id < b->ids.count; id++)
		heap->objects[id] = (struct jp_heap_object){
			.class_node = JP_NONE, .name = JP_NONE, .site = JP_NONE, .method = JP_NONE
		};
	heap->count = b->ids.count;
	return 0;
}

static int add_heap_edges(struct jp_heap_builder *b, bool has_class)
{
	uint32_t skip = has_class ? class_address : first_reference;
	size_t count = b->asked_count - skip;
	if (b->to_count + count >= UINT32_MAX)
		return jp_error(b->err, JPROF_E_UNSUPPORTED, b->name, b->line, "more than 4 billion references");
	if (jp_array_push(b->runs, b->run_count, b->run_cap) ||
	    jp_array_reserve(&b->to, &b->to_cap, b->to_count + count, sizeof *b->to) ||
	    (b->names_edges &&
	     jp_array_reserve(&b->to_names, &b->to_names_cap, b->to_count + count, sizeof *b->to_names)))
		return jp_error_nomem(b->err);
	b->runs[b->run_count++] = (struct jp_edge_run){ .from = b->found[own_address], .count = (uint32_t)count };
	if (count)
		memcpy(b->to + b->to_count, b->found + skip, count * sizeof *b->to);
	if (count && b->names_edges)
		memcpy(b->to_names + b->to_count, b->asked_names + skip, count * sizeof *b->to_names);
	b->to_count += count;
	return 0;
}

int jp_heap_add(struct jp_heap_builder *b, const struct jp_heap_object *object)
{
	int rc = object->type == JP_HEAP_ROOT ? place_root(b, object) : 0;
	if (rc)
		return rc;
	if (object->type != JP_HEAP_ROOT && b->asked[own_address] < root_addresses)
		return jp_error(b->err, JPROF_E_FORMAT, b->name, b->line, "an object without its address");
	if (object->bytes > INT64_MAX - b->bytes)
		return jp_error(b->err, JPROF_E_FORMAT, b->name, b->line, "more bytes than any memory has");
	b->bytes += object->bytes;
	/* Internal objects have none; what is asked for in its place is known already. */
	bool has_class = b->asked[class_address] >= root_addresses;
	if (!has_class)
		b->asked[class_address] = b->asked[own_address];
	if (jp_array_reserve(&b->found, &b->found_cap, b->asked_count, sizeof *b->found) ||
	    jp_index_words(&b->ids, &b->heap->addresses, &b->address_cap, b->asked, b->asked_count, b->found))
		return jp_error_nomem(b->err);
	rc = grow_objects(b);
	if (rc)
		return rc;
	struct jp_heap_object *added = &b->heap->objects[b->found[own_address]];
	*added = *object;
	added->class_node = has_class ? b->found[class_address] : JP_NONE;
	return add_heap_edges(b, has_class);
}

/* All edges in the order of their nodes; those of Ruby, the last node, lead to the roots. */
int jp_heap_conclude(struct jp_heap_builder *b)
{
	struct jp_heap *heap = b->heap;
	struct jp_graph *graph = &heap->graph;
	size_t roots = b->roots.count, edges = b->to_count + roots;
	jp_index_release(&b->ids);
	if (edges >= UINT32_MAX)
		return jp_error(b->err, JPROF_E_UNSUPPORTED, b->name, 0, "more than 4 billion references");
	graph->nodes = heap->count + 1;
	graph->first = calloc((size_t)graph->nodes + 2, sizeof *graph->first);
	graph->to = malloc((edges + 1) * sizeof *graph->to);
	heap->edge_names = b->names_edges ? jp_none_array(edges + 1) : NULL;
	if (!graph->first || !graph->to || (b->names_edges && !heap->edge_names))
		return jp_error_nomem(b->err);
	for (size_t i = 0; i < b->run_count; i++)
		graph->first[(size_t)b->runs[i].from + 2] += b->runs[i].count;
	graph->first[(size_t)heap->count + 2] = (uint32_t)roots;
	for (uint32_t i = 1; i <= graph->nodes; i++)
		graph->first[i + 1] += graph->first[i];
	size_t from = 0;
	for (size_t i = 0; i < b->run_count; from += b->runs[i++].count) {
		uint32_t *place = &graph->first[(size_t)b->runs[i].from + 1], count = b->runs[i].count;
		if (count)
			memcpy(graph->to + *place, b->to + from, count * sizeof *b->to);
		if (count && b->names_edges)
			memcpy(heap->edge_names + *place, b->to_names + from, count * sizeof *b->to_names);
		*place += count;
	}
	for (uint32_t id = 0; id < heap->count; id++)
		if (heap->objects[id].type == JP_HEAP_ROOT)
			graph->to[graph->first[(size_t)heap->count + 1]++] = id;
	return 0;
}

void jp_heap_builder_release(struct jp_heap_builder *b)
{
	jp_index_release(&b->ids);
	jp_intern_release(&b->roots);
	free(b->asked);
	free(b->asked_names);
	free(b->found);
	free(b->runs);
	free(b->to);
	free(b->to_names);
}

void jp_heap_release(struct jp_heap *heap)
{
	free(heap->objects);
	free(heap->addresses);
	jp_graph_release(&heap->graph);
	free(heap->edge_names);
	jp_intern_release(&heap->words);
	jp_intern_release(&heap->texts);
	free(heap->says);
	free(heap->samples);
	free(heap->stands_for);
	free(heap->directory);
	*heap = (struct jp_heap){ 0 };
}
