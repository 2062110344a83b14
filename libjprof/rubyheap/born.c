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

/* 95 % of a normal distribution. */
static const double two_sided = 1.96;

struct jprof_born {
	struct jprof_born_info info;
	struct jprof_born_line *rows;
	size_t count, cap;
	double variance; /* of the bytes of all samples */
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

/* Samples say when they were taken, each in an epoch, which a snapshot ends. So they know of an object that lies where
 * an equal one lay that it was born, and of one that changed its class that it was not. A block may be younger than
 * its object where that is one that grows. */
static void mark_by_samples(struct jprof_rubyheap *h, uint32_t from, uint32_t to)
{
	const struct jp_heap *heap = &h->heap;
	for (size_t i = 0; heap->stands_for && from && to && i < heap->sample_count; i++) {
		const struct jp_heap_sample *s = &heap->samples[i];
		bool born = s->epoch >= from && s->epoch <= to;
		enum jp_heap_type type = (enum jp_heap_type)heap->objects[s->node].type;
		if (s->epoch && s->part != JP_PART_BUFFER)
			h->born[s->node] = born;
		else if (born && !(heap->stands_for[s->node] > 0) && type != JP_HEAP_ARRAY && type != JP_HEAP_HASH)
			h->born[s->node] = true;
	}
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
	double bytes;
	uint32_t objects;
};

/* Where slots were not sampled, blocks alone say nothing of objects that have none. */
static bool is_by_samples(const struct jp_heap *heap)
{
	return heap->stands_for != NULL;
}

/* What lines are made of, by ids: of a heap with samples those, else its objects. */
static uint32_t node_of_item(const struct jp_heap *heap, uint32_t id)
{
	return is_by_samples(heap) ? (uint32_t)heap->samples[id].node : id;
}

static uint32_t site_of_item(const struct jp_heap *heap, uint32_t id)
{
	return is_by_samples(heap) ? heap->samples[id].site : heap->objects[id].site;
}

/* Where blocks have no samples, an object's stands for all that it has. */
static double bytes_of_item(const struct jp_heap *heap, uint32_t id)
{
	double bytes = (double)heap->objects[node_of_item(heap, id)].bytes;
	if (!is_by_samples(heap))
		return bytes;
	return heap->has_buffers ? heap->samples[id].bytes : heap->samples[id].objects * bytes;
}

/* Each sample was drawn by itself: Horvitz and Thompson's estimate. */
static double variance_of_item(const struct jp_heap *heap, uint32_t id)
{
	double bytes = bytes_of_item(heap, id);
	return is_by_samples(heap) ? bytes * bytes * (1 - heap->samples[id].chance) : 0;
}

static uint32_t class_of_item(const struct jp_heap *heap, uint32_t id)
{
	return heap->objects[node_of_item(heap, id)].class_node;
}

static void add_class_words(struct jp_strbuf *text, const struct jp_heap *heap, uint32_t id, struct of_class sum,
                            double all)
{
	jp_strbuf_printf(text, "%s%s (", text->len ? ", " : "", jp_heap_node_word(heap, node_of_item(heap, id)));
	if (is_by_samples(heap))
		jp_strbuf_printf(text, "%.0f %%", 100 * sum.bytes / all);
	else
		jp_strbuf_grouped(text, sum.objects, 0);
	jp_strbuf_str(text, ")");
}

/* Names the classes with most bytes among these. */
static int name_born_classes(struct jprof_born *b, const struct jp_heap *heap, const uint32_t *ids, size_t count,
                             struct of_class *sums, struct jprof_born_line *line)
{
	uint32_t top[most_classes_named];
	size_t named = 0;
	for (size_t i = 0; i < count; i++)
		if (class_of_item(heap, ids[i]) != JP_NONE) {
			sums[class_of_item(heap, ids[i])].bytes += bytes_of_item(heap, ids[i]);
			sums[class_of_item(heap, ids[i])].objects++;
		}
	for (; named < most_classes_named; named++) {
		uint32_t best = JP_NONE;
		for (size_t i = 0; i < count; i++) {
			uint32_t class_node = class_of_item(heap, ids[i]);
			bool taken = class_node == JP_NONE;
			for (size_t k = 0; k < named && !taken; k++)
				taken = class_of_item(heap, top[k]) == class_node;
			if (!taken &&
			    (best == JP_NONE || sums[class_node].bytes > sums[class_of_item(heap, best)].bytes))
				best = ids[i];
		}
		if (best == JP_NONE)
			break;
		top[named] = best;
	}
	struct jp_strbuf text = { 0 };
	for (size_t k = 0; k < named; k++)
		add_class_words(&text, heap, top[k], sums[class_of_item(heap, top[k])], (double)line->bytes);
	for (size_t i = 0; i < count; i++)
		if (class_of_item(heap, ids[i]) != JP_NONE)
			sums[class_of_item(heap, ids[i])] = (struct of_class){ 0 };
	line->classes = text.failed ? NULL : jp_arena_dup(&b->texts, text.text ? text.text : "", text.len);
	jp_strbuf_release(&text);
	return line->classes ? 0 : -1;
}

static void add_generation(struct jprof_born_line *line, uint32_t generation)
{
	if (generation && (!line->generations[0] || generation < line->generations[0]))
		line->generations[0] = generation;
	if (generation > line->generations[1])
		line->generations[1] = generation;
}

static int add_born_line(struct jprof_born *b, const struct jp_heap *heap, const uint32_t *ids, size_t count,
                         struct of_class *sums)
{
	double bytes = 0, variance = 0;
	if (jp_array_push(b->rows, b->count, b->cap))
		return -1;
	struct jprof_born_line *line = &b->rows[b->count++];
	*line = (struct jprof_born_line){ .site = jp_heap_site(heap, site_of_item(heap, *ids)),
		                          .objects = is_by_samples(heap) ? 0 : count,
		                          .samples = is_by_samples(heap) ? count : 0 };
	for (size_t i = 0; i < count; i++) {
		bytes += bytes_of_item(heap, ids[i]);
		variance += variance_of_item(heap, ids[i]);
		add_generation(line, heap->objects[node_of_item(heap, ids[i])].generation);
	}
	line->bytes = (uint64_t)(bytes + 0.5);
	line->error = two_sided * sqrt(variance);
	b->info.samples += line->samples;
	b->info.sampled_bytes += is_by_samples(heap) ? bytes : 0;
	b->variance += variance;
	return name_born_classes(b, heap, ids, count, sums, line);
}

static int by_most_bytes(const void *a, const void *b)
{
	const struct jprof_born_line *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, strcmp(x->site, y->site));
}

static int by_born_site(uint32_t a, uint32_t b, const void *context)
{
	const struct jp_heap *heap = context;
	return jp_order_by(site_of_item(heap, a), site_of_item(heap, b), jp_order(a, b));
}

static int add_born_lines(struct jprof_born *b, const struct jprof_rubyheap *h)
{
	const struct jp_heap *heap = &h->heap;
	size_t all = is_by_samples(heap) ? heap->sample_count : heap->count, count = 0, end;
	uint32_t *ids = malloc((all + 1) * sizeof *ids);
	struct of_class *sums = calloc(heap->count + (size_t)1, sizeof *sums);
	bool failed = !ids || !sums;
	for (uint32_t i = 0; !failed && i < all; i++)
		if (h->born[node_of_item(heap, i)])
			ids[count++] = i;
	if (!failed)
		jp_sort_ids(ids, count, by_born_site, heap);
	for (size_t at = 0; !failed && at < count; at = end) {
		for (end = at + 1; end < count && site_of_item(heap, ids[end]) == site_of_item(heap, ids[at]);)
			end++;
		failed = add_born_line(b, heap, ids + at, end - at, sums);
	}
	b->info.sampled_error = two_sided * sqrt(b->variance);
	free(ids);
	free(sums);
	return failed ? -1 : 0;
}

static void count_born(struct jprof_born_info *info, const struct jprof_rubyheap *h)
{
	for (uint32_t i = 0; i < h->heap.count; i++) {
		info->objects += h->born[i];
		info->bytes += h->born[i] ? h->heap.objects[i].bytes : 0;
	}
}

/* 0, or -1 when memory is short. */
static int find_born(struct jprof_born *b, struct jprof_rubyheap *h, const struct jprof_rubyheap *before,
                     const struct jprof_rubyheap *between)
{
	if (mark_born(h, before, between, &b->info))
		return -1;
	mark_by_samples(h, before->heap.epoch_after, between ? between->heap.epoch_before : UINT32_MAX);
	count_born(&b->info, h);
	return add_born_lines(b, h);
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
	if (!b || find_born(b, heap, before, between)) {
		jprof_born_free(b);
		return jp_error_nomem(err);
	}
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
