/* Where the objects of a graph were allocated, as far as they were sampled: their slots by the agent
 * (docs/internals/ruby-table.md), and their blocks by jemalloc (docs/internals/buffers.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/reader.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "input/rubytable.h"
#include "rubyheap/rubyheap.h"
#include "view/origin.h"

static int by_address(const void *a, const void *b)
{
	const struct jp_rubyslot *x = a, *y = b;
	return jp_order(x->address, y->address);
}

static int by_sampled_node(const void *a, const void *b)
{
	const struct jp_heap_sample *x = a, *y = b;
	return jp_order_by(x->node, y->node, jp_order_by(x->site, y->site, jp_order(x->bytes, y->bytes)));
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

/* Adds a sample with the words of a frame, which may be JP_NONE. 0, or -1 when memory is short. */
static int add_heap_sample(struct jprof_rubyheap *h, const struct jp_rubytable *t, uint32_t frame,
                           struct jp_heap_sample sample)
{
	struct jp_heap *heap = &h->heap;
	const struct jp_rubyframe *f = frame_of_site(t, frame);
	sample.site = sample.method = JP_NONE;
	if (f) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) site = { 0 };
		const char *method = jp_rubytable_text(t, f->method);
		jp_strbuf_printf(&site, "%s:%u", jp_rubytable_text(t, f->path), f->line);
		sample.site = site.failed ? JP_NONE : jp_intern(&heap->words, site.text, site.len);
		sample.method = jp_intern(&heap->words, method, strlen(method));
		if (sample.site == JP_NONE || sample.method == JP_NONE)
			return -1;
	}
	if (jp_array_push(heap->samples, heap->sample_count, heap->sample_cap))
		return -1;
	heap->samples[heap->sample_count++] = sample;
	h->info.sampled++;
	h->info.has_lines |= f != NULL;
	return 0;
}

static void sort_samples(struct jp_heap *heap)
{
	heap->is_sampled = true;
	if (heap->sample_count)
		qsort(heap->samples, heap->sample_count, sizeof *heap->samples, by_sampled_node);
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

static int join_slot(struct jprof_rubyheap *h, uint32_t node, const struct jp_rubytable *t,
                     const struct jp_rubyslot *slot)
{
	struct jp_heap_object *object = &h->heap.objects[node];
	double bytes = jp_rubytable_slot_bytes(t, slot);
	const struct jp_heap_sample sample = { .node = node,
		                               .bytes = bytes,
		                               .objects = bytes / slot->slot,
		                               .chance = slot->slot / bytes,
		                               .epoch = slot->epoch,
		                               .part = object->bytes > slot->slot ? JP_PART_SLOT : JP_PART_OBJECT };
	h->heap.stands_for[node] = (float)sample.objects;
	if (add_heap_sample(h, t, slot->frame, sample))
		return -1;
	object->site = h->heap.samples[h->heap.sample_count - 1].site;
	object->method = h->heap.samples[h->heap.sample_count - 1].method;
	return 0;
}

static int join_samples(struct jprof_rubyheap *h, const struct jp_rubytable *t)
{
	struct jp_heap *heap = &h->heap;
	heap->stands_for = calloc((size_t)heap->count + 1, sizeof *heap->stands_for);
	if (!heap->stands_for)
		return -1;
	for (uint32_t i = 0; t->slot_count && i < heap->count; i++) {
		size_t at = jp_count_below(t->slots, t->slot_count, sizeof *t->slots, heap->addresses[i]);
		const struct jp_rubyslot *slot = &t->slots[at];
		if (at < t->slot_count && slot->address == heap->addresses[i] &&
		    is_sampled_object(heap, i, jp_rubytable_text(t, slot->class)) && join_slot(h, i, t, slot))
			return -1;
	}
	sort_samples(heap);
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
	if (!rc && t->directory && !heap->heap.directory && !(heap->heap.directory = strdup(t->directory)))
		rc = jp_error_nomem(err);
	if (!rc) {
		heap->heap.epoch_before = (uint32_t)t->before;
		heap->heap.epoch_after = (uint32_t)t->after;
	}
	jp_rubytable_free(t);
	return rc;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

struct block_record {
	uint64_t object, type, slot, size;
	uint32_t frame, epoch;
};

struct block_reader {
	const struct jp_rubytable *table;
	struct block_record *records;
	size_t count, cap;
	uint64_t rate; /* bytes between samples, 0: not known */
	double bytes;  /* that the records stand for */
	bool ended;
};

static bool take_word(struct jp_span *line, bool hex, uint64_t *value)
{
	return (hex ? jp_span_hex(line, value) : jp_span_decimal(line, value)) == JP_NUMBER_OK &&
	       (!line->len || jp_span_char(line, ' '));
}

/* The Ruby stack and the epoch among numbers that the agent added to a stack. A stack that was added after the table
 * was written may be of another: it is of an epoch after the table's last. */
static bool take_numbers(struct jp_span *line, const struct jp_rubytable *t, struct block_record *r)
{
	uint64_t address;
	r->frame = JP_NONE;
	r->epoch = 0;
	while (line->len) {
		if (!take_word(line, true, &address))
			return false;
		uint64_t number = (address - t->start) / 2;
		uint32_t found = address < t->start ? JP_NONE : jp_rubytable_frame(t, number);
		r->frame = found == JP_NONE ? r->frame : found;
		if (number >= t->epochs && number < t->end)
			r->epoch = (uint32_t)(number - t->epochs);
	}
	r->frame = r->epoch > t->after ? JP_NONE : r->frame;
	return true;
}

/* Types as Ruby numbers them. */
static bool is_of_type(const struct jp_heap_object *object, uint64_t type)
{
	static const uint8_t types[] = {
		[1] = JP_HEAP_OBJECT, [5] = JP_HEAP_STRING, [7] = JP_HEAP_ARRAY,
		[8] = JP_HEAP_HASH,   [9] = JP_HEAP_STRUCT, [12] = JP_HEAP_DATA,
	};
	return type < jp_count(types) && types[type] && object->type == types[type];
}

/* The block's size is a class of jemalloc's: up to a quarter more than what was asked for. What Data has its graph does
 * not say, and of a Hash the block is a part. */
static bool may_have_block(const struct jp_heap_object *object, uint64_t slot, uint64_t size)
{
	uint64_t beside = object->bytes > slot ? object->bytes - slot : 0;
	if (object->type == JP_HEAP_DATA)
		return true;
	return beside && size <= beside + beside / 4 + 16 && (object->type == JP_HEAP_HASH || size >= beside);
}

/* An object of several blocks counts by the one that is most of it. */
static double objects_of_block(const struct jp_heap_object *object, uint64_t slot, uint64_t size)
{
	return object->type != JP_HEAP_DATA && size > (object->bytes - slot) / 2 ? 1 : 0;
}

static double chance_of_block(uint64_t rate, uint64_t size)
{
	return -expm1(-(double)size / (double)rate);
}

/* "OBJECT TYPE SLOT SIZE NUMBER...". No records stand for more bytes than any memory has. 0, or -1 when memory is
 * short. */
static int read_block(struct block_reader *b, struct jp_span line, bool *good)
{
	enum { most_slot = 65536 };
	static const uint64_t most_size = 1ULL << 47;
	static const double most_bytes = 0x1p60;
	struct block_record r;
	*good = b->rate && take_word(&line, true, &r.object) && take_word(&line, false, &r.type) &&
	        take_word(&line, false, &r.slot) && take_word(&line, false, &r.size) && r.slot && r.slot <= most_slot &&
	        r.size && r.size <= most_size && take_numbers(&line, b->table, &r);
	if (!*good)
		return 0;
	b->bytes += (double)r.size / chance_of_block(b->rate, r.size);
	*good = b->bytes <= most_bytes;
	if (jp_array_push(b->records, b->count, b->cap))
		return -1;
	b->records[b->count++] = r;
	return 0;
}

/* Lines of words that are not known are of a later jprof. 0, or -1 when memory is short. */
static int read_block_line(struct block_reader *b, struct jp_span line, bool *good)
{
	enum { most_rate = 48 };
	uint64_t count;
	*good = !b->ended;
	if (jp_span_text(&line, "b "))
		return read_block(b, line, good);
	if (jp_span_text(&line, "rate "))
		*good = take_word(&line, false, &b->rate) && b->rate && b->rate <= 1ULL << most_rate;
	else if (jp_span_text(&line, "end "))
		*good = b->ended = !b->ended && take_word(&line, false, &count) && count == b->count;
	return 0;
}

static int read_blocks(struct block_reader *b, const void *buffers, size_t len, struct jprof_error *err)
{
	struct jp_reader reader;
	struct jp_span line = { 0 };
	bool good = true;
	jp_reader_init(&reader, buffers, len);
	if (!jp_reader_line(&reader, &line) || !jp_span_text(&line, "jprof-buffers "))
		return jp_error(err, JPROF_E_FORMAT, "buffers", 0, "does not say who has which block");
	if (!jp_span_text(&line, "1") || line.len)
		return jp_error(err, JPROF_E_UNSUPPORTED, "buffers", 0,
		                "is in a format that is not known here; take a newer jprof");
	while (good && jp_reader_line(&reader, &line))
		if (read_block_line(b, line, &good))
			return jp_error_nomem(err);
	return good && b->ended ? 0 : jp_error(err, JPROF_E_FORMAT, "buffers", reader.line, "is damaged or not whole");
}

static int join_block(struct jprof_rubyheap *h, uint32_t node, const struct block_reader *b,
                      const struct block_record *r)
{
	const struct jp_heap_object *object = &h->heap.objects[node];
	double chance = chance_of_block(b->rate, r->size);
	if (!is_of_type(object, r->type) || !may_have_block(object, r->slot, r->size))
		return 0;
	const struct jp_heap_sample sample = { .node = node,
		                               .bytes = (double)r->size / chance,
		                               .objects = objects_of_block(object, r->slot, r->size) / chance,
		                               .chance = chance,
		                               .epoch = r->epoch,
		                               .part = JP_PART_BUFFER };
	return add_heap_sample(h, b->table, r->frame, sample);
}

/* 0, or -1 when memory is short: then the heap is as it was. */
static int join_blocks(struct jprof_rubyheap *h, struct block_reader *b)
{
	struct jp_heap *heap = &h->heap;
	const struct jprof_rubyheap_info before = h->info;
	size_t count = heap->sample_count;
	int rc = 0;
	if (b->count)
		qsort(b->records, b->count, sizeof *b->records, jp_by_first);
	for (uint32_t i = 0; !rc && i < heap->count; i++) {
		size_t at = jp_count_below(b->records, b->count, sizeof *b->records, heap->addresses[i]);
		for (; !rc && at < b->count && b->records[at].object == heap->addresses[i]; at++)
			rc = join_block(h, i, b, &b->records[at]);
	}
	heap->has_buffers = !rc;
	if (!rc) {
		sort_samples(heap);
		return 0;
	}
	heap->sample_count = count;
	h->info = before;
	return -1;
}

int jprof_rubyheap_buffers(struct jprof_rubyheap *heap, const void *table, size_t table_len, const void *buffers,
                           size_t len, struct jprof_error *err)
{
	if (jp_null(err, heap, table, buffers))
		return JPROF_E_ARGUMENT;
	if (heap->heap.has_buffers)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "this heap has its blocks already");
	struct jp_rubytable *t = NULL;
	int rc = jp_rubytable_parse(table, table_len, "frames", &t, err);
	if (rc)
		return rc;
	struct block_reader b = { .table = t };
	rc = read_blocks(&b, buffers, len, err);
	if (!rc && join_blocks(heap, &b))
		rc = jp_error_nomem(err);
	free(b.records);
	jp_rubytable_free(t);
	return rc;
}
