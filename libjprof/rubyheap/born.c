/* What was born between two dumps of one Ruby and still lives in a third, by the line that allocated it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/idsort.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "input/stream.h"
#include "rubyheap/keeperwords.h"

enum { most_classes_named = 3 };

struct jprof_born {
	struct jprof_born_info info;
	struct jprof_born_line *rows;
	size_t count, cap;
	struct jp_arena texts;
};

bool jprof_is_rubyheap(const char *path)
{
	struct jp_stream stream;
	struct jprof_error err;
	bool is = false;
	if (path && strcmp(path, "-") != 0 && !jp_stream_open(&stream, path, &err)) {
		struct jp_span head = jp_stream_head(&stream);
		is = jp_span_starts(head, "{\"type\":\"ROOT\"") || jp_span_starts(head, "{\"address\":\"0x");
	}
	if (path && strcmp(path, "-") != 0)
		jp_stream_release(&stream);
	return is;
}

/* ---- which objects ------------------------------------------------------------------------------------------------
 */

/* What tells an object of one heap in another: in dumps its address, as others compare them. A graph has no lines by
 * which a reader could see that the slot was given to another one, so there the class and type must be the same, too.
 */
struct identity {
	uint64_t address, class;
	unsigned type;
};

static struct identity identity_of(const struct jp_heap *heap, uint32_t i)
{
	uint32_t class_node = heap->objects[i].class_node;
	if (!heap->is_graph)
		return (struct identity){ heap->addresses[i], 0, 0 };
	return (struct identity){ heap->addresses[i], class_node == JP_NONE ? 0 : heap->addresses[class_node],
		                  heap->objects[i].type };
}

static int by_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	return jp_order_by(x->address, y->address, jp_order_by(x->class, y->class, jp_order(x->type, y->type)));
}

/* Of all its objects, sorted; NULL when memory is short. */
static struct identity *identities_of(const struct jp_heap *heap, size_t *count)
{
	struct identity *all = malloc((heap->count + (size_t)1) * sizeof *all);
	*count = 0;
	for (uint32_t i = 0; all && i < heap->count; i++)
		if (heap->objects[i].type > JP_HEAP_ROOT)
			all[(*count)++] = identity_of(heap, i);
	if (all)
		qsort(all, *count, sizeof *all, by_identity);
	return all;
}

static bool has_identity(const struct identity *all, size_t count, struct identity wanted)
{
	return bsearch(&wanted, all, count, sizeof *all, by_identity) != NULL;
}

static int mark_born(struct jprof_rubyheap *h, const struct jprof_rubyheap *before,
                     const struct jprof_rubyheap *between, struct jprof_born_info *info)
{
	size_t old_count, middle_count = 0, common = 0;
	struct identity *old = identities_of(&before->heap, &old_count);
	struct identity *middle = between ? identities_of(&between->heap, &middle_count) : NULL;
	bool *born = calloc(h->heap.count + (size_t)1, sizeof *born);
	bool failed = !old || (between && !middle) || !born;
	for (uint32_t i = 0; !failed && i < h->heap.count; i++) {
		struct identity identity = identity_of(&h->heap, i);
		if (h->heap.objects[i].type <= JP_HEAP_ROOT)
			continue;
		bool known = has_identity(old, old_count, identity);
		common += known;
		born[i] = !known && (!between || has_identity(middle, middle_count, identity));
	}
	free(old);
	free(middle);
	if (failed) {
		free(born);
		return -1;
	}
	free(h->born);
	h->born = born;
	info->in_common = old_count ? (double)common / (double)old_count : 0;
	return 0;
}

/* The same by samples, which say in which epoch they were taken: a snapshot ends one. */
static void estimate_born(const struct jp_heap *heap, const struct jp_heap *before, const struct jp_heap *between,
                          struct jprof_born_info *info)
{
	static const double two_sided = 1.96;
	uint32_t from = before->epoch_after, to = between ? between->epoch_before : UINT32_MAX;
	double variance = 0;
	for (uint32_t i = 0; heap->epochs && from && to && i < heap->count; i++) {
		double bytes = (double)heap->objects[i].bytes, stands_for = (double)heap->stands_for[i];
		if (!(stands_for > 0) || heap->epochs[i] < from || heap->epochs[i] > to)
			continue;
		info->samples++;
		info->sampled_bytes += stands_for * bytes;
		variance += stands_for * (stands_for - 1) * bytes * bytes;
	}
	info->sampled_error = two_sided * sqrt(variance);
}

static int check_moves(const struct jp_heap *heap, const struct jp_heap *other, struct jprof_error *err)
{
	if (!other || (!heap->is_graph && !other->is_graph))
		return 0;
	if (heap->is_graph != other->is_graph)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "a graph of objects is not compared with a dump");
	if (!heap->moves || !other->moves)
		return jp_error(
		    err, JPROF_E_ARGUMENT, NULL, 0,
		    "graphs that were read from outside, or of an older agent, do not say whether GC.compact "
		    "moved objects between them, so "
		    "that addresses do not tell which ones were born");
	if (heap->moves != other->moves)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "GC.compact moved objects between the two, so that addresses do not tell which ones "
		                "were born");
	return 0;
}

/* ---- lines --------------------------------------------------------------------------------------------------------
 */

/* Of each class what a line made of it; all 0 between two lines. */
struct of_class {
	uint64_t bytes;
	uint32_t objects;
};

/* Names the classes with most bytes among these objects. */
static int name_born_classes(struct jprof_born *b, const struct jprof_rubyheap *h, const uint32_t *nodes, size_t count,
                             struct of_class *sums, struct jprof_born_line *line)
{
	const struct jp_heap_object *objects = h->heap.objects;
	uint32_t top[most_classes_named];
	size_t named = 0;
	for (size_t i = 0; i < count; i++)
		if (objects[nodes[i]].class_node != JP_NONE) {
			sums[objects[nodes[i]].class_node].bytes += objects[nodes[i]].bytes;
			sums[objects[nodes[i]].class_node].objects++;
		}
	for (; named < most_classes_named; named++) {
		uint32_t best = JP_NONE;
		for (size_t i = 0; i < count; i++) {
			uint32_t class_node = objects[nodes[i]].class_node;
			bool taken = class_node == JP_NONE;
			for (size_t k = 0; k < named && !taken; k++)
				taken = objects[top[k]].class_node == class_node;
			if (!taken &&
			    (best == JP_NONE || sums[class_node].bytes > sums[objects[best].class_node].bytes))
				best = nodes[i];
		}
		if (best == JP_NONE)
			break;
		top[named] = best;
	}
	struct jp_strbuf text = { 0 };
	for (size_t k = 0; k < named; k++) {
		jp_strbuf_printf(&text, "%s%s (", k ? ", " : "", jp_heap_node_word(&h->heap, top[k]));
		jp_strbuf_grouped(&text, sums[objects[top[k]].class_node].objects, 0);
		jp_strbuf_str(&text, ")");
	}
	for (size_t i = 0; i < count; i++)
		if (objects[nodes[i]].class_node != JP_NONE)
			sums[objects[nodes[i]].class_node] = (struct of_class){ 0 };
	line->classes = text.failed ? NULL : jp_arena_dup(&b->texts, text.text ? text.text : "", text.len);
	jp_strbuf_release(&text);
	return line->classes ? 0 : -1;
}

static int add_born_line(struct jprof_born *b, const struct jprof_rubyheap *h, const uint32_t *nodes, size_t count,
                         struct of_class *sums)
{
	if (jp_array_push(b->rows, b->count, b->cap))
		return -1;
	struct jprof_born_line *line = &b->rows[b->count++];
	*line =
	    (struct jprof_born_line){ .site = jp_heap_word(&h->heap, h->heap.objects[*nodes].site), .objects = count };
	for (size_t i = 0; i < count; i++) {
		const struct jp_heap_object *object = &h->heap.objects[nodes[i]];
		line->bytes += object->bytes;
		if (object->generation && (!line->generations[0] || object->generation < line->generations[0]))
			line->generations[0] = object->generation;
		if (object->generation > line->generations[1])
			line->generations[1] = object->generation;
	}
	b->info.bytes += line->bytes;
	b->info.objects += count;
	return name_born_classes(b, h, nodes, count, sums, line);
}

static int by_most_bytes(const void *a, const void *b)
{
	const struct jprof_born_line *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, strcmp(x->site, y->site));
}

static int by_born_site(uint32_t a, uint32_t b, const void *context)
{
	const struct jp_heap_object *objects = context;
	return jp_order_by(objects[a].site, objects[b].site, jp_order(a, b));
}

static int add_born_lines(struct jprof_born *b, const struct jprof_rubyheap *h)
{
	const struct jp_heap *heap = &h->heap;
	uint32_t *nodes = malloc((heap->count + (size_t)1) * sizeof *nodes);
	struct of_class *sums = calloc(heap->count + (size_t)1, sizeof *sums);
	size_t count = 0, end;
	bool failed = !nodes || !sums;
	for (uint32_t i = 0; !failed && i < heap->count; i++)
		if (h->born[i])
			nodes[count++] = i;
	if (!failed)
		jp_sort_ids(nodes, count, by_born_site, heap->objects);
	for (size_t at = 0; !failed && at < count; at = end) {
		for (end = at + 1; end < count && heap->objects[nodes[end]].site == heap->objects[nodes[at]].site;)
			end++;
		failed = add_born_line(b, h, nodes + at, end - at, sums);
	}
	free(nodes);
	free(sums);
	return failed ? -1 : 0;
}

int jprof_born_new(struct jprof_rubyheap *heap, const struct jprof_rubyheap *before,
                   const struct jprof_rubyheap *between, struct jprof_born **born, struct jprof_error *err)
{
	if (jp_null(err, heap, before, born))
		return JPROF_E_ARGUMENT;
	int rc = check_moves(&heap->heap, &before->heap, err);
	rc = rc ? rc : check_moves(&heap->heap, between ? &between->heap : NULL, err);
	if (rc)
		return rc;
	struct jprof_born *b = calloc(1, sizeof *b);
	if (!b || mark_born(heap, before, between, &b->info) || add_born_lines(b, heap)) {
		jprof_born_free(b);
		return jp_error_nomem(err);
	}
	estimate_born(&heap->heap, &before->heap, between ? &between->heap : NULL, &b->info);
	if (b->count)
		qsort(b->rows, b->count, sizeof *b->rows, by_most_bytes);
	*born = b;
	return 0;
}

const struct jprof_born_info *jprof_born_info(const struct jprof_born *born)
{
	return born ? &born->info : NULL;
}

size_t jprof_born_count(const struct jprof_born *born)
{
	return born ? born->count : 0;
}

const struct jprof_born_line *jprof_born_at(const struct jprof_born *born, size_t i)
{
	return born && i < born->count ? &born->rows[i] : NULL;
}

void jprof_born_free(struct jprof_born *born)
{
	if (!born)
		return;
	free(born->rows);
	jp_arena_release(&born->texts);
	free(born);
}
