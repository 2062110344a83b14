#include "model/samples.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t hash_sample(uint64_t seed, const void *item)
{
	const struct jp_sample *s = item;
	return jp_hash_mix(seed, (uint64_t)s->label << 32 | s->stack);
}

static bool same_sample(const void *a, const void *b)
{
	const struct jp_sample *x = a, *y = b;
	return x->stack == y->stack && x->label == y->label;
}

static const struct jp_index_kind sample_kind = { sizeof(struct jp_sample), hash_sample, same_sample };

const struct jp_label jp_no_label = { JP_NONE, JP_NONE, JP_NONE, JP_NONE };

struct jp_label jp_sample_label(const struct jp_samples *samples, const struct jp_sample *s)
{
	struct jp_label label = jp_no_label;
	if (s->label != JP_NONE)
		memcpy(&label, jp_intern_get(&samples->labels, s->label), sizeof label);
	return label;
}

bool jp_label_id(struct jp_samples *samples, struct jp_label label, uint32_t *id)
{
	bool any = label.thread != JP_NONE || label.epoch != JP_NONE || label.tag != JP_NONE || label.worker != JP_NONE;
	*id = any ? jp_intern(&samples->labels, &label, sizeof label) : JP_NONE;
	return !any || *id != JP_NONE;
}

/* ---- from counters to numbers ------------------------------------------------------------------- */

void jp_sample_counted(const struct jp_samples *samples, const struct jp_sample *s, uint64_t count[JPROF_COUNTERS])
{
	struct jp_large_count all = {
		.count = { [JPROF_INUSE_OBJECTS] = s->counted[0], [JPROF_INUSE_SPACE] = s->counted[1] }
	};
	if (s->large != JP_NONE)
		all = samples->large[s->large];
	memcpy(count, all.count, sizeof all.count);
}

void jp_values_seen(struct jp_values *v, enum jprof_counter counter, const struct jp_sampling *seen)
{
	const enum jprof_counter pair[2] = { jp_objects_of(counter), jp_bytes_of(counter) };
	v->plus.n[counter >= JPROF_ALLOC_SPACE] = seen->n;
	v->plus.rounding[counter >= JPROF_ALLOC_SPACE] = (float)fmin(seen->rounding, FLT_MAX);
	for (int i = 0; i < 2; i++) {
		enum jprof_counter c = pair[i];
		v->plus.variance[c] = seen->variance[i];
		v->plus.worth[c] = (float)fmin(seen->worth[i], FLT_MAX);
		v->plus.open[c] = (float)seen->open;
		v->shift[c] = seen->shift[i];
	}
}

/* What is added to nothing: so numbers are the same whether or not a sample has a sum. */
static struct jp_values values_of(const struct jp_samples *samples, const uint64_t count[JPROF_COUNTERS])
{
	struct jp_values like = { 0 }, v = { 0 };
	jp_scale_record(samples->scaling, samples->rate, count, like.value);
	for (unsigned first = 0; first < JPROF_COUNTERS && samples->scaling != JP_SCALE_LINEAR; first += 2) {
		/* What was not sampled at all is as if each object had been. */
		uint64_t rate = samples->scaling == JP_SCALE_POISSON ? samples->rate : 0;
		const uint64_t pair[2] = { count[jp_objects_of(first)], count[jp_bytes_of(first)] };
		struct jp_sampling seen = jp_sampling_of(rate, pair);
		jp_values_seen(&like, first, &seen);
	}
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		v.value[c] += like.value[c];
		v.shift[c] += like.shift[c];
	}
	jp_seen_add(&v.plus, &like.plus, 1);
	return v;
}

struct jp_values jp_sample_values(const struct jp_samples *samples, const struct jp_sample *s)
{
	uint64_t count[JPROF_COUNTERS];
	if (s->sum != JP_NONE)
		return samples->sums[s->sum];
	jp_sample_counted(samples, s, count);
	return values_of(samples, count);
}

void jp_sample_estimates(const struct jp_samples *samples, const struct jp_sample *s, double value[JPROF_COUNTERS])
{
	uint64_t count[JPROF_COUNTERS];
	if (s->sum == JP_NONE) {
		jp_sample_counted(samples, s, count);
		jp_scale_record(samples->scaling, samples->rate, count, value);
	}
	for (int c = 0; s->sum != JP_NONE && c < JPROF_COUNTERS; c++)
		value[c] = samples->sums[s->sum].value[c];
}

static bool is_ever_allocated(const uint64_t count[JPROF_COUNTERS])
{
	return count[JPROF_ALLOC_OBJECTS] || count[JPROF_ALLOC_SPACE];
}

void jp_samples_used(const struct jp_samples *samples, bool used[JPROF_COUNTERS])
{
	used[JPROF_INUSE_OBJECTS] = used[JPROF_INUSE_SPACE] = true;
	used[JPROF_ALLOC_OBJECTS] = used[JPROF_ALLOC_SPACE] = false;
	for (size_t i = 0; i < samples->large_count && !used[JPROF_ALLOC_SPACE]; i++)
		used[JPROF_ALLOC_OBJECTS] = used[JPROF_ALLOC_SPACE] = is_ever_allocated(samples->large[i].count);
	for (size_t i = 0; i < samples->sum_count; i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			used[c] = used[c] || samples->sums[i].value[c] != 0;
}

/* ---- making ---------------------------------------------------------------------------------------- */

struct jp_sample *jp_sample_make(struct jp_samples *samples, uint32_t stack, uint32_t label, bool *known)
{
	struct jp_sample key = { .stack = stack, .label = label, .sum = JP_NONE, .large = JP_NONE };
	bool found;
	if (stack == JP_NONE || jp_array_push(samples->items, samples->ids.count, samples->cap))
		return NULL;
	uint32_t id = jp_index_id(&samples->ids, &sample_kind, samples->items, &key, &found);
	if (id == JP_NONE)
		return NULL;
	if (!found)
		samples->items[id] = key;
	if (known)
		*known = found;
	return &samples->items[id];
}

struct jp_values *jp_sample_sum(struct jp_samples *samples, struct jp_sample *s)
{
	if (s->sum == JP_NONE) {
		if (jp_array_push(samples->sums, samples->sum_count, samples->sum_cap))
			return NULL;
		samples->sums[samples->sum_count] = jp_sample_values(samples, s);
		s->sum = (uint32_t)samples->sum_count++;
	}
	return &samples->sums[s->sum];
}

int jp_sample_make_large(struct jp_samples *samples, struct jp_sample *s)
{
	if (s->large != JP_NONE)
		return 0;
	if (jp_array_push(samples->large, samples->large_count, samples->large_cap))
		return -1;
	samples->large[samples->large_count] = (struct jp_large_count){ 0 };
	s->large = (uint32_t)samples->large_count++;
	return 0;
}

static int set_counters(struct jp_samples *samples, struct jp_sample *s, const uint64_t count[JPROF_COUNTERS])
{
	uint64_t objects = count[JPROF_INUSE_OBJECTS], bytes = count[JPROF_INUSE_SPACE];
	if (objects <= UINT32_MAX && bytes <= UINT32_MAX && !is_ever_allocated(count)) {
		s->counted[0] = (uint32_t)objects;
		s->counted[1] = (uint32_t)bytes;
		return 0;
	}
	if (jp_sample_make_large(samples, s))
		return -1;
	memcpy(samples->large[s->large].count, count, sizeof samples->large->count);
	return 0;
}

int jp_sample_count_in(struct jp_samples *samples, uint32_t stack, uint32_t label, const uint64_t count[JPROF_COUNTERS])
{
	bool known;
	struct jp_sample *s = jp_sample_make(samples, stack, label, &known);
	if (!s || !known)
		return s ? set_counters(samples, s, count) : -1;
	struct jp_values *sum = jp_sample_sum(samples, s), like = values_of(samples, count);
	return sum ? jp_values_add(samples, sum, &like, 1) : -1;
}

/* ---- adding ------------------------------------------------------------------------------------------ */

const struct jp_less *jp_values_less(const struct jp_values *v)
{
	static const struct jp_less nothing;
	return v->less ? v->less : &nothing;
}

struct jp_less *jp_values_make_less(struct jp_samples *samples, struct jp_values *v)
{
	if (!v->less)
		v->less = jp_arena_alloc(&samples->subtracted, sizeof *v->less);
	return v->less;
}

int jp_values_add_estimates(struct jp_samples *samples, struct jp_values *to, const struct jp_values *like,
                            double factor)
{
	const struct jp_less *theirs = jp_values_less(like);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		to->value[c] += factor * like->value[c];
		to->shift[c] += factor * like->shift[c];
	}
	if (factor >= 0 && !like->less)
		return 0;
	struct jp_less *less = jp_values_make_less(samples, to);
	for (int c = 0; less && c < JPROF_COUNTERS; c++)
		less->base[c] += factor < 0 ? -factor * (like->value[c] + theirs->base[c]) : factor * theirs->base[c];
	return less ? 0 : -1;
}

int jp_values_add(struct jp_samples *samples, struct jp_values *to, const struct jp_values *like, double factor)
{
	if (jp_values_add_estimates(samples, to, like, factor))
		return -1;
	struct jp_less *less = to->less;
	jp_seen_add(factor < 0 ? &less->seen : &to->plus, &like->plus, factor);
	if (like->less)
		jp_seen_add(factor < 0 ? &to->plus : &less->seen, &like->less->seen, factor);
	return 0;
}

/* ---- taking out ----------------------------------------------------------------------------------------- */

void jp_samples_cut(struct jp_samples *samples, const struct jp_samples *was)
{
	jp_index_cut(&samples->ids, &sample_kind, samples->items, was->ids.count);
	jp_intern_cut(&samples->labels, was->labels.count);
	for (uint32_t i = 0; samples->sum_count > was->sum_count && i < samples->ids.count; i++)
		if (samples->items[i].sum != JP_NONE && samples->items[i].sum >= was->sum_count)
			samples->items[i].sum = JP_NONE;
	samples->sum_count = was->sum_count;
	samples->large_count = was->large_count;
}

void jp_samples_release(struct jp_samples *samples)
{
	jp_index_release(&samples->ids);
	jp_intern_release(&samples->labels);
	jp_arena_release(&samples->subtracted);
	free(samples->items);
	free(samples->sums);
	free(samples->large);
	*samples = (struct jp_samples){ 0 };
}
