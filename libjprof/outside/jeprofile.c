#include "outside/jeprofile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum {
	most_samples = 16 << 20,
	most_depth = 1024, /* of a stack: prof_bt_max may be that much */
	most_rates = 48,
	known_state = 3, /* the last one of a context */
};

/* ---- samples ---------------------------------------------------------------------------------------------------- */

static bool may_point(const struct jp_memsource *m, uint64_t address)
{
	return address && address % 8 == 0 && jp_memsource_heap(m, address);
}

/* What is not sampled has 0 or 1 for a context. A record that jemalloc has used again keeps an old context, and the
 * size that was asked for, which its class is too small for. */
static int take_sample(struct jp_memsource *m, const struct jp_jeextent *e, struct jp_jeprofile *p)
{
	enum { time_at = 64, asked = 1, context = 2 };
	uint64_t words[3];
	if (!jp_memsource_read(m, e->record + time_at, words, sizeof words) || !may_point(m, words[context]) ||
	    words[asked] > jp_jeclass_size(e->class))
		return 0;
	if (p->sample_count == most_samples)
		return 0;
	if (jp_array_push(p->samples, p->sample_count, p->sample_cap))
		return -1;
	p->samples[p->sample_count++] =
	    (struct jp_jesample){ .context = words[context], .address = e->first, .time = words[0], .class = e->class };
	return 0;
}

static int by_context(const void *a, const void *b)
{
	const struct jp_jesample *x = a, *y = b;
	return jp_order_by(x->context, y->context, jp_order(x->time, y->time));
}

static int take_samples(struct jp_memsource *m, const struct jp_jeextents *x, struct jp_jeprofile *p)
{
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		if (e->state == JP_JE_ACTIVE && e->class < jp_je_classes && !e->slab && !e->cached &&
		    take_sample(m, e, p))
			return -1;
	}
	if (p->sample_count)
		qsort(p->samples, p->sample_count, sizeof *p->samples, by_context);
	return 0;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

/* The stack that a context counts for lies in a record of its own, behind its length. 1: taken; 0: it is none. */
static int take_stack(struct jp_memsource *m, uint64_t record, struct jp_jeprofile *p, struct jp_jecontext *c)
{
	enum { stack_at = 104, addresses_at = 120 };
	uint64_t words[2];
	if (!may_point(m, record) || !jp_memsource_read(m, record + stack_at, words, sizeof words))
		return 0;
	c->depth = (uint32_t)words[1];
	if (words[0] != record + addresses_at || !c->depth || c->depth > most_depth)
		return 0;
	uint64_t *stack = jp_arena_alloc(&p->arena, c->depth * sizeof *stack);
	c->stack = stack;
	if (!stack)
		return -1;
	return jp_memsource_read(m, words[0], stack, c->depth * sizeof *stack);
}

/* A context is one where its thread's record has its thread's number, and its stack's record holds the stack. 1: taken;
 * 0: it is none. */
static int take_context(struct jp_memsource *m, uint64_t address, struct jp_jeprofile *p)
{
	enum { of_thread, thread_id, discriminator, counters = 4, of_stack = 12, number, state = 16, words_read };
	uint64_t words[words_read];
	if (!jp_memsource_read(m, address, words, sizeof words))
		return 0;
	struct jp_jecontext c = { .address = address,
		                  .thread = words[thread_id],
		                  .order = { words[discriminator], words[number] },
		                  .objects = words[counters],
		                  .unbiased = { words[counters + 1], words[counters + 3] } };
	uint64_t thread = words[of_thread];
	if (words[state] >> 32 > known_state || !may_point(m, thread) || jp_memsource_word(m, thread + 8) != c.thread ||
	    c.objects > INT64_MAX / 8)
		return 0;
	int taken = take_stack(m, words[of_stack], p, &c);
	if (taken <= 0)
		return taken;
	if (jp_array_push(p->contexts, p->count, p->cap) || jp_array_push(p->threads, p->thread_count, p->thread_cap))
		return -1;
	p->contexts[p->count++] = c;
	p->threads[p->thread_count++] = (struct jp_jethread){ .id = c.thread, .record = thread };
	return 1;
}

/* jemalloc's own order: stacks by their bytes, the shorter one first, then threads. */
static int by_stack(const void *a, const void *b)
{
	const struct jp_jecontext *x = a, *y = b;
	uint32_t depth = x->depth < y->depth ? x->depth : y->depth;
	int order = memcmp(x->stack, y->stack, depth * sizeof *x->stack);
	if (order)
		return order;
	const uint64_t left[] = { x->depth, x->thread, x->order[0], x->order[1] },
		       right[] = { y->depth, y->thread, y->order[0], y->order[1] };
	for (size_t i = 0; i < jp_count(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* *sound: samples whose context is one. */
static int take_contexts(struct jp_memsource *m, struct jp_jeprofile *p, size_t *sound)
{
	for (size_t i = 0, end; i < p->sample_count; i = end) {
		for (end = i + 1; end < p->sample_count && p->samples[end].context == p->samples[i].context;)
			end++;
		int taken = take_context(m, p->samples[i].context, p);
		if (taken < 0)
			return -1;
		*sound += taken ? end - i : 0;
	}
	return 0;
}

/* ---- contexts by their threads ------------------------------------------------------------------------------- */

/* A thread's record has a hash table of its contexts (struct ckh_s of ckh.h): their number, the logarithm of its
 * buckets and the address of its cells, in this order. */
struct context_cell {
	uint64_t stack, context;
};

/* Whether one of them is among the first `found` contexts, which are sorted by address. */
static bool has_known(const struct context_cell *cells, size_t count, const struct jp_jeprofile *p, size_t found)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = jp_count_below(p->contexts, found, sizeof *p->contexts, cells[i].context);
		if (at < found && p->contexts[at].address == cells[i].context)
			return true;
	}
	return false;
}

/* The cells of a thread's table, for free(); NULL in *cells: there is none that has a known context. 0, or -1 when
 * memory is short. */
static int find_cells(struct jp_memsource *m, const struct jp_jeprofile *p, size_t found, uint64_t record,
                      struct context_cell **cells, size_t *count)
{
	enum { from = 9, words_read = 20, number_at = 4, buckets_at = 3, most_lg = 16, per_bucket = 4 };
	uint64_t words[words_read];
	*cells = NULL;
	if (!jp_memsource_read(m, record, words, sizeof words))
		return 0;
	for (unsigned i = from; i < words_read; i++) {
		uint64_t lg = words[i - buckets_at] >> 32, number = words[i - number_at];
		*count = lg <= most_lg ? (size_t)per_bucket << lg : 0;
		if (!number || number > *count || !may_point(m, words[i]))
			continue;
		*cells = malloc(*count * sizeof **cells);
		if (!*cells)
			return -1;
		jp_memsource_copy(m, words[i], *cells, *count * sizeof **cells);
		if (has_known(*cells, *count, p, found))
			return 0;
		free(*cells);
		*cells = NULL;
	}
	return 0;
}

/* 1: those of a thread's table were taken; 0: it has none; -1 when memory is short. */
static int take_contexts_of(struct jp_memsource *m, struct jp_jeprofile *p, size_t found, uint64_t record)
{
	struct context_cell *cells;
	size_t count;
	int rc = find_cells(m, p, found, record, &cells, &count) ? -1 : cells != NULL;
	for (size_t i = 0; rc > 0 && i < count; i++)
		if (may_point(m, cells[i].context) && take_context(m, cells[i].context, p) < 0)
			rc = -1;
	free(cells);
	return rc;
}

/* Objects come and go while they are read. Contexts that samples led to lack those whose samples all came after the
 * extents were listed, and a busy process would have less than there is. So all of a thread are read at once, from its
 * own table, and take the place of those. */
static int take_contexts_of_threads(struct jp_memsource *m, struct jp_jeprofile *p)
{
	struct thread_table {
		uint64_t record, taken;
	} *tables = calloc(p->count + 1, sizeof *tables);
	size_t found = p->count, kept = 0, count = 0;
	int rc = tables ? 0 : -1;
	for (size_t i = 0; tables && i < found; i++)
		tables[i].record = p->threads[i].record;
	if (tables)
		qsort(tables, found, sizeof *tables, jp_by_first);
	for (size_t i = 0; rc >= 0 && i < found; i++) {
		if (count && tables[count - 1].record == tables[i].record)
			continue;
		rc = take_contexts_of(m, p, found, tables[i].record);
		tables[count++] = (struct thread_table){ tables[i].record, rc > 0 };
	}
	for (size_t i = 0; rc >= 0 && i < p->count; i++) {
		size_t at = jp_count_below(tables, count, sizeof *tables, p->threads[i].record);
		if (i < found && at < count && tables[at].taken)
			continue;
		p->contexts[kept] = p->contexts[i];
		p->threads[kept++] = p->threads[i];
	}
	p->count = p->thread_count = kept;
	free(tables);
	return rc < 0 ? -1 : 0;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* 5.3.0 has the address of a name, later ones the name itself. Where no thread has a cache it is not known which. */
static void take_thread_name(struct jp_memsource *m, const struct jp_jeheap *h, struct jp_jethread *t)
{
	enum { pointer_at = 24, text_at = 96, text_size = 16 };
	bool pointed = h->caches && !strcmp(h->version, "5.3.0"), placed = h->caches && !pointed;
	uint64_t at = placed ? t->record + text_at : pointed ? jp_memsource_word(m, t->record + pointer_at) : 0;
	size_t size = placed ? text_size : sizeof t->name - 1, left = jp_memory_page - at % jp_memory_page;
	if (at && jp_memsource_has(m, at))
		jp_memsource_copy(m, at, t->name, size < left ? size : left);
	for (char *c = t->name; *c; c++)
		if (*c < ' ' || *c == 127)
			*c = '?';
}

static void add_context(struct jp_jecounts *sum, const struct jp_jecontext *c)
{
	sum->eighths += c->unbiased.eighths;
	sum->bytes += c->unbiased.bytes;
}

/* Until now there is one for each context. */
static void make_threads_one_each(struct jp_memsource *m, const struct jp_jeheap *h, struct jp_jeprofile *p)
{
	size_t kept = 0;
	if (p->thread_count)
		qsort(p->threads, p->thread_count, sizeof *p->threads, jp_by_first);
	for (size_t i = 0; i < p->thread_count; i++)
		if (!kept || p->threads[kept - 1].id != p->threads[i].id)
			p->threads[kept++] = p->threads[i];
	p->thread_count = kept;
	for (size_t i = 0; i < kept; i++)
		take_thread_name(m, h, &p->threads[i]);
	for (size_t i = 0; i < p->count; i++)
		add_context(
		    &p->threads[jp_count_below(p->threads, kept, sizeof *p->threads, p->contexts[i].thread)].unbiased,
		    &p->contexts[i]);
}

/* ---- the rate ----------------------------------------------------------------------------------------------------
 */

static struct jp_jecounts unbias_one(int lg_rate, unsigned class)
{
	double size = (double)jp_jeclass_size(class), part = 1 - exp(-size / ldexp(1, lg_rate));
	return (struct jp_jecounts){ (uint64_t)round(8 / part), (uint64_t)round(size / part) };
}

/* What a sample of each class stands for at a rate. */
static void unbias(int lg_rate, struct jp_jecounts of[jp_je_classes])
{
	for (unsigned i = 0; i < jp_je_classes; i++)
		of[i] = unbias_one(lg_rate, i);
}

struct jp_jecounts jp_jeprofile_stands_for(const struct jp_jeprofile *p, unsigned class)
{
	return unbias_one(p->lg_rate, class);
}

/* How many of the contexts all of whose samples were found have just the counters that they would have at a rate. */
static size_t count_agreeing(const struct jp_jeprofile *p, int lg_rate)
{
	struct jp_jecounts of[jp_je_classes];
	size_t agreeing = 0;
	unbias(lg_rate, of);
	for (size_t i = 0, s = 0; i < p->count; i++) {
		const struct jp_jecontext *c = &p->contexts[i];
		struct jp_jecounts sum = { 0 };
		while (s < p->sample_count && p->samples[s].context < c->address)
			s++;
		size_t first = s;
		for (; s < p->sample_count && p->samples[s].context == c->address; s++) {
			sum.eighths += of[p->samples[s].class].eighths;
			sum.bytes += of[p->samples[s].class].bytes;
		}
		agreeing +=
		    s - first == c->objects && sum.eighths == c->unbiased.eighths && sum.bytes == c->unbiased.bytes;
	}
	return agreeing;
}

/* No record says at which rate samples are taken, but what they stand for follows from it. Where large objects leave
 * several it is jemalloc's own default, or else the highest. False: no rate explains them. */
static bool find_rate(struct jp_jeprofile *p)
{
	enum { by_default = 19 };
	size_t votes[most_rates] = { 0 };
	int best = by_default;
	votes[by_default] = count_agreeing(p, by_default);
	for (int lg = 0; lg < most_rates; lg++) {
		votes[lg] = count_agreeing(p, lg);
		if (votes[lg] > votes[best] || (votes[lg] == votes[best] && best != by_default))
			best = lg;
	}
	p->lg_rate = best;
	return votes[best];
}

/* ---- all of it ----------------------------------------------------------------------------------------------------
 */

/* A context without live objects is one that jemalloc is about to free. */
static void drop_empty_contexts(struct jp_jeprofile *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->count; i++)
		if (p->contexts[i].objects && p->contexts[i].unbiased.eighths)
			p->contexts[kept++] = p->contexts[i];
	p->count = kept;
}

int jp_jeprofile_take(struct jp_memsource *m, const struct jp_jeheap *h, const struct jp_jeextents *x,
                      struct jp_jeprofile *p)
{
	size_t sound = 0;
	*p = (struct jp_jeprofile){ 0 };
	if (!h->version || !h->caches_known) /* records of 5.2 have their contexts elsewhere */
		return 0;
	if (take_samples(m, x, p) || take_contexts(m, p, &sound))
		return -1;
	if (!p->sample_count)
		return 0;
	bool known = sound * 4 >= p->sample_count * 3 && find_rate(p);
	if (known && take_contexts_of_threads(m, p))
		return -1;
	drop_empty_contexts(p);
	p->count = known ? p->count : 0;
	if (p->count)
		qsort(p->contexts, p->count, sizeof *p->contexts, by_stack);
	make_threads_one_each(m, h, p);
	return 0;
}

bool jp_jeprofile_times(const struct jp_jeprofile *p, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < p->count; i++) {
		uint64_t context = p->contexts[i].address;
		size_t s = jp_count_below(p->samples, p->sample_count, sizeof *p->samples, context);
		for (; s < p->sample_count && p->samples[s].context == context; s++) {
			*first = p->samples[s].time < *first ? p->samples[s].time : *first;
			*last = p->samples[s].time > *last ? p->samples[s].time : *last;
		}
	}
	return *first <= *last;
}

void jp_jeprofile_release(struct jp_jeprofile *p)
{
	free(p->samples);
	free(p->contexts);
	free(p->threads);
	jp_arena_release(&p->arena);
	*p = (struct jp_jeprofile){ 0 };
}

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

/* jemalloc prints what was sampled, not what it stands for: prof_do_unbias. */
static void put_counters(struct jp_strbuf *text, const struct jp_jeprofile *p, struct jp_jecounts sum)
{
	double objects = 0, bytes = 0;
	if (sum.eighths && sum.bytes) {
		double size = (double)sum.bytes / ((double)sum.eighths / 8);
		bytes = (double)sum.bytes * (1 - exp(-size / ldexp(1, p->lg_rate)));
		objects = bytes / size;
	}
	jp_strbuf_printf(text, "%.0f: %.0f [0: 0]", round(objects), round(bytes));
}

static bool is_same_stack(const struct jp_jecontext *a, const struct jp_jecontext *b)
{
	return a->depth == b->depth && !memcmp(a->stack, b->stack, a->depth * sizeof *a->stack);
}

/* What a context has of an epoch; without ages of epoch 0, which is none. */
struct profile_part {
	uint32_t stack; /* the first context of that stack */
	uint32_t epoch, context;
	struct jp_jecounts of;
};

struct profile_parts {
	struct profile_part *items;
	size_t count, cap;
};

static int add_part(struct profile_parts *to, size_t first, struct profile_part part)
{
	struct profile_part *last = to->count > first ? &to->items[to->count - 1] : NULL;
	if (last && last->epoch == part.epoch) {
		last->of.eighths += part.of.eighths;
		last->of.bytes += part.of.bytes;
		return 0;
	}
	if (jp_array_push(to->items, to->count, to->cap))
		return -1;
	to->items[to->count++] = part;
	return 0;
}

/* The counters are what holds. Where more samples were found than they have the parts become less in proportion; what
 * was not found is younger than the list of extents. */
static int fit_to_counters(struct profile_parts *to, size_t first, struct profile_part rest, struct jp_jecounts found)
{
	struct jp_jecounts has = rest.of;
	if (found.eighths == has.eighths && found.bytes == has.bytes)
		return 0;
	if (found.eighths <= has.eighths && found.bytes <= has.bytes) {
		rest.of.eighths -= found.eighths;
		rest.of.bytes -= found.bytes;
		return add_part(to, first, rest);
	}
	for (size_t i = first; i < to->count; i++) {
		struct jp_jecounts *of = &to->items[i].of;
		of->eighths = (uint64_t)((double)of->eighths * (double)has.eighths / (double)found.eighths);
		of->bytes = (uint64_t)((double)of->bytes * (double)has.bytes / (double)found.bytes);
	}
	return 0;
}

/* Samples of a context are in the order of their times. */
static int add_parts_of(const struct jp_jeprofile *p, const struct jp_jeages *ages, uint32_t stack, uint32_t context,
                        struct profile_parts *to)
{
	const struct jp_jecontext *c = &p->contexts[context];
	struct profile_part rest = { stack, 0, context, c->unbiased };
	struct jp_jecounts of[jp_je_classes], found = { 0 };
	size_t first = to->count, s = jp_count_below(p->samples, p->sample_count, sizeof *p->samples, c->address);
	if (!ages)
		return add_part(to, first, rest);
	unbias(p->lg_rate, of);
	rest.epoch = jp_jeages_running(ages);
	for (; s < p->sample_count && p->samples[s].context == c->address; s++) {
		struct jp_jecounts one = of[p->samples[s].class];
		found.eighths += one.eighths;
		found.bytes += one.bytes;
		if (add_part(to, first,
		             (struct profile_part){ stack, jp_jeages_epoch(ages, p->samples[s].time), context, one }))
			return -1;
	}
	return fit_to_counters(to, first, rest, found);
}

static int by_stack_and_epoch(const void *a, const void *b)
{
	const struct profile_part *x = a, *y = b;
	return jp_order_by(x->stack, y->stack, jp_order_by(x->epoch, y->epoch, jp_order(x->context, y->context)));
}

static int make_parts(const struct jp_jeprofile *p, const struct jp_jeages *ages, struct profile_parts *to)
{
	for (size_t i = 0, stack = 0; i < p->count; i++) {
		stack = i && !is_same_stack(&p->contexts[stack], &p->contexts[i]) ? i : stack;
		if (add_parts_of(p, ages, (uint32_t)stack, (uint32_t)i, to))
			return -1;
	}
	if (to->count)
		qsort(to->items, to->count, sizeof *to->items, by_stack_and_epoch);
	return 0;
}

/* One stack of the dump: all parts of a stack and epoch. Returns behind the last of them. */
static const struct profile_part *put_stack(struct jp_strbuf *text, const struct jp_jeprofile *p,
                                            const struct jp_jeages *ages, const struct profile_part *first,
                                            const struct profile_part *limit)
{
	const struct jp_jecontext *c = &p->contexts[first->stack];
	const struct profile_part *end = first;
	struct jp_jecounts sum = { 0 };
	for (; end < limit && end->stack == first->stack && end->epoch == first->epoch; end++) {
		sum.eighths += end->of.eighths;
		sum.bytes += end->of.bytes;
	}
	jp_strbuf_str(text, "@");
	for (uint32_t i = 0; i < c->depth; i++)
		jp_strbuf_printf(text, " 0x%llx", (unsigned long long)c->stack[i]);
	if (first->epoch)
		jp_strbuf_printf(text, " 0x%llx", (unsigned long long)jp_jeages_address(ages, first->epoch));
	jp_strbuf_str(text, "\n  t*: ");
	put_counters(text, p, sum);
	for (const struct profile_part *part = first; part < end; part++) {
		jp_strbuf_printf(text, "\n  t%llu: ", (unsigned long long)p->contexts[part->context].thread);
		put_counters(text, p, part->of);
	}
	jp_strbuf_str(text, "\n");
	return end;
}

static int put_stacks(const struct jp_jeprofile *p, struct jp_jeages *ages, struct jp_strbuf *text)
{
	struct profile_parts parts = { 0 };
	int rc = make_parts(p, ages, &parts);
	for (size_t i = 0; i < parts.count && !rc && ages; i++)
		rc = jp_jeages_use(ages, parts.items[i].epoch);
	const struct profile_part *part = parts.items, *limit = part + parts.count;
	while (part < limit && !rc)
		part = put_stack(text, p, ages, part, limit);
	free(parts.items);
	return rc;
}

static void put_head(const struct jp_jeprofile *p, struct jp_strbuf *text)
{
	struct jp_jecounts sum = { 0 };
	for (size_t i = 0; i < p->count; i++)
		add_context(&sum, &p->contexts[i]);
	jp_strbuf_printf(text, "heap_v2/%llu\n  t*: ", 1ULL << p->lg_rate);
	put_counters(text, p, sum);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct jp_jethread *t = &p->threads[i];
		jp_strbuf_printf(text, "\n  t%llu: ", (unsigned long long)t->id);
		put_counters(text, p, t->unbiased);
		jp_strbuf_printf(text, "%s%s", *t->name ? " " : "", t->name);
	}
	jp_strbuf_str(text, "\n");
}

int jp_jeprofile_write(const struct jp_jeprofile *p, const struct jp_memsource *source, struct jp_jeages *ages,
                       struct jp_strbuf *text)
{
	put_head(p, text);
	if (put_stacks(p, ages, text))
		return -1;
	jp_strbuf_str(text, "\nMAPPED_LIBRARIES:\n");
	bool placed = !ages;
	for (size_t i = 0; i < jprof_maps_count(source->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(source->maps, i);
		if (!placed && map->start > ages->ids) {
			jp_jeages_put_mapping(ages, text);
			placed = true;
		}
		jp_strbuf_printf(text, "%llx-%llx %c%c%cp %08llx %02x:%02x %llu %s\n", (unsigned long long)map->start,
		                 (unsigned long long)map->limit, map->readable ? 'r' : '-', map->writable ? 'w' : '-',
		                 map->executable ? 'x' : '-', (unsigned long long)map->offset, map->dev_major,
		                 map->dev_minor, (unsigned long long)map->inode, map->path);
	}
	return text->failed ? -1 : 0;
}
