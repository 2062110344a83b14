/* Where the objects of a graph were allocated, as far as the agent sampled them: docs/internals/ruby-table.md. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "input/rubytable.h"
#include "rubyheap/rubyheap.h"
#include "view/origin.h"

static int by_address(const void *a, const void *b)
{
	const struct jp_rubyslot *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

/* The frame at which an object was allocated, as rows have it: the innermost of the application or a gem, else the
 * innermost that has a line. NULL: none has one. */
static const struct jp_rubyframe *frame_of_site(const struct jp_rubytable *t, uint32_t frame)
{
	const struct jp_rubyframe *with_line = NULL;
	for (; frame != JP_NONE; frame = t->frames[frame].parent) {
		const struct jp_rubyframe *f = &t->frames[frame];
		if (f->word != JP_RUBY_FRAME || f->path == JP_NONE || !f->line)
			continue;
		enum jprof_origin origin = jp_path_origin(jp_rubytable_text(t, f->path)).origin;
		if (origin == JPROF_ORIGIN_APPLICATION || origin == JPROF_ORIGIN_GEM)
			return f;
		with_line = with_line ? with_line : f;
	}
	return with_line;
}

/* Another object may lie at the address since the sample was taken. */
static bool is_sampled_object(const struct jp_heap *heap, uint32_t node, const char *class)
{
	const char *is = jp_heap_class(heap, node);
	return heap->objects[node].type > JP_HEAP_ROOT && (!*class || !*is || !strcmp(is, class));
}

static int set_site(struct jp_heap *heap, uint32_t node, const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	const struct jp_rubyframe *f = frame_of_site(t, slot->frame);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) site = { 0 };
	heap->stands_for[node] = (float)(jp_rubytable_slot_bytes(t, slot) / slot->slot);
	heap->epochs[node] = slot->epoch;
	if (!f)
		return 0;
	jp_strbuf_printf(&site, "%s:%u", jp_rubytable_text(t, f->path), f->line);
	const char *method = jp_rubytable_text(t, f->method);
	if (site.failed)
		return -1;
	heap->objects[node].site = jp_intern(&heap->words, site.text, site.len);
	heap->objects[node].method = jp_intern(&heap->words, method, strlen(method));
	return heap->objects[node].site == JP_NONE || heap->objects[node].method == JP_NONE ? -1 : 0;
}

static int join_samples(struct jprof_rubyheap *h, const struct jp_rubytable *t)
{
	struct jp_heap *heap = &h->heap;
	heap->stands_for = calloc((size_t)heap->count + 1, sizeof *heap->stands_for);
	heap->epochs = calloc((size_t)heap->count + 1, sizeof *heap->epochs);
	if (!heap->stands_for || !heap->epochs)
		return -1;
	for (uint32_t i = 0; i < heap->count; i++) {
		size_t at = jp_count_below(t->slots, t->slot_count, sizeof *t->slots, heap->addresses[i]);
		const struct jp_rubyslot *slot = &t->slots[at];
		if (at == t->slot_count || slot->address != heap->addresses[i] ||
		    !is_sampled_object(heap, i, jp_rubytable_text(t, slot->class)))
			continue;
		if (set_site(heap, i, t, slot))
			return -1;
		h->info.sampled++;
		h->info.has_lines |= heap->objects[i].site != JP_NONE;
	}
	return 0;
}

int jprof_rubyheap_sites(struct jprof_rubyheap *heap, const void *table, size_t len, struct jprof_error *err)
{
	if (jp_null(err, heap, table))
		return JPROF_E_ARGUMENT;
	if (heap->heap.stands_for)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "this heap has its lines already");
	struct jp_rubytable *t = NULL;
	int rc = jp_rubytable_parse(table, len, "frames", &t, err);
	if (!rc && t->slot_count)
		qsort(t->slots, t->slot_count, sizeof *t->slots, by_address);
	if (!rc && t->slot_rate && join_samples(heap, t))
		rc = jp_error_nomem(err);
	if (!rc) {
		heap->heap.epoch_before = (uint32_t)t->before;
		heap->heap.epoch_after = (uint32_t)t->after;
	}
	jp_rubytable_free(t);
	return rc;
}
