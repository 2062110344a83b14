#include "view/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/idsort.h"
#include "model/slotsamples.h"
#include "view/filter.h"
#include "view/managed.h"
#include "view/nativeend.h"
#include "view/rowages.h"
#include "view/store.h"

/* What was seen of a stack, while its samples are added up: apart where, in a difference, it is not known what both
 * sides have. */
struct sum {
	double shift, rounding;
	struct sum_seen {
		struct jp_seen plus, minus;
	} known, open;
};

struct resolve {
	struct jprof_view *view;
	const struct jprof_profile *profile;
	const struct jprof_view_opts *opts;
	struct jp_fold fold;
	struct jp_filter filter;
	uint32_t thread; /* the only one wanted, or JP_NONE: all */
	struct jp_index ids;
	struct jp_native_end native_end; /* where it is by names */
	uint32_t *passed;                /* by place: 1 + its frames, which have rows; 0: it was not come to */
	uint32_t *cut;                   /* a stack without the interpreter */
	size_t cut_cap;
	struct jp_path path; /* of the stack at hand */
	size_t stack_cap, labelled_cap, path_cap, sum_cap;
	struct sum *sums; /* by stack, for errors */
	uint32_t
	    *next; /* by sample: the next one of the same stack, thread and tag; JP_NONE: none. NULL: all are alone */
	bool *follows;          /* by sample: it is the next of another */
	uint8_t *managers;      /* by object; NULL: nobody asks */
	bool by_age;            /* only what is older or newer is wanted */
	struct jp_pattern *tag; /* of the tags that are asked for; NULL: all */
	signed char *tag_found; /* by id, and behind them for no tag: 1 yes, -1 no, 0 not asked yet */
};

/* ---- stacks ---------------------------------------------------------------------------------------- */

static uint64_t hash_stack(uint64_t seed, const void *item)
{
	const struct jp_view_stack *s = item;
	uint64_t h = jp_hash_mix(jp_hash_mix(seed, s->tag), (uint64_t)s->thread << 32 | s->skip);
	return jp_hash(h, s->places, s->depth * sizeof *s->places);
}

static bool same_stack(const void *a, const void *b)
{
	const struct jp_view_stack *x = a, *y = b;
	return x->thread == y->thread && x->tag == y->tag && x->skip == y->skip && x->depth == y->depth &&
	       (!x->depth || !memcmp(x->places, y->places, x->depth * sizeof *x->places));
}

static uint64_t hash_labelled(uint64_t seed, const void *item)
{
	const struct jp_labelled_stack *s = item;
	return hash_stack(jp_hash_mix(seed, (uint64_t)(uintptr_t)s->age << 32 ^ s->worker), &s->stack);
}

static bool same_labelled(const void *a, const void *b)
{
	const struct jp_labelled_stack *x = a, *y = b;
	return x->worker == y->worker && x->age == y->age && same_stack(&x->stack, &y->stack);
}

/* Folding may have left the inner end of it. */
static bool is_cut(const struct resolve *r, const uint32_t *places)
{
	return r->cut && places >= r->cut && places <= r->cut + r->cut_cap;
}

/* Places stay where they are in the profile; what was put together elsewhere is kept. */
static int keep_places(struct resolve *r, struct jp_view_stack *stack)
{
	if (stack->places != r->fold.scratch && stack->places != r->filter.scratch && !is_cut(r, stack->places))
		return 0;
	uint32_t *kept = jp_arena_alloc(&r->view->store->places, (stack->depth + 1) * sizeof *kept);
	if (kept && stack->depth)
		memcpy(kept, stack->places, stack->depth * sizeof *kept);
	stack->places = kept;
	return kept ? 0 : -1;
}

static int add_path(struct resolve *r, uint32_t id)
{
	struct jprof_view *v = r->view;
	const struct jp_view_stack *stack = &v->stacks[id];
	if (jp_array_push(v->paths, id, r->path_cap) ||
	    jp_rows_path(&v->store->rows, stack->places, stack->depth, stack->tag, &r->path))
		return -1;
	uint32_t *rows = jp_arena_alloc(&v->store->places, (r->path.count + 1) * sizeof *rows);
	if (rows && r->path.count)
		memcpy(rows, r->path.rows, r->path.count * sizeof *rows);
	v->paths[id] = (struct jp_view_path){ rows, (uint32_t)r->path.inner, (uint32_t)r->path.count };
	v->longest = r->path.count > v->longest ? r->path.count : v->longest;
	return rows ? 0 : -1;
}

/* Names the rows of a place of a stack; *frames: how many it has. */
static int add_place(struct resolve *r, const struct jp_view_stack *stack, uint32_t i, uint32_t *frames)
{
	uint32_t first = jp_place_frames(r->view, stack, i, frames);
	if (i || !stack->skip)
		r->passed[stack->places[i]] = 1 + *frames;
	return jp_rows_by_path(r->opts->granularity) ? 0 : jp_rows_of_frames(&r->view->store->rows, first, *frames);
}

/* Names the rows of a new stack. */
static int add_rows(struct resolve *r, uint32_t id)
{
	struct jprof_view *v = r->view;
	const struct jp_view_stack *stack = &v->stacks[id];
	bool by_path = jp_rows_by_path(r->opts->granularity);
	size_t frames = 0;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t passed = i || !stack->skip ? r->passed[stack->places[i]] : 0, count = passed - 1;
		if (!passed && add_place(r, stack, i, &count))
			return -1;
		frames += count;
	}
	v->deepest = frames > v->deepest ? frames : v->deepest;
	return by_path ? add_path(r, id) : 0;
}

/* The id of a stack among those of the view, *known if it is one of them; JP_NONE when memory is short. */
static uint32_t id_of_stack(struct resolve *r, const struct jp_view_stack *stack, struct jp_label label, bool *known)
{
	static const struct jp_index_kind plain = { sizeof(struct jp_view_stack), hash_stack, same_stack };
	static const struct jp_index_kind labelled = { sizeof(struct jp_labelled_stack), hash_labelled, same_labelled };
	struct jprof_view *v = r->view;
	if (!r->opts->labels)
		return jp_index_id(&r->ids, &plain, v->stacks, stack, known);
	const struct jp_labelled_stack item = { *stack, label.worker, jp_age_label(v->ages, label.epoch) };
	if (jp_array_push(v->labelled, v->stack_count, r->labelled_cap))
		return JP_NONE;
	uint32_t id = jp_index_id(&r->ids, &labelled, v->labelled, &item, known);
	if (id != JP_NONE && !*known)
		v->labelled[id] = item;
	return id;
}

/* The view's stack with these places, made when it is new; JP_NONE when memory is short. */
static uint32_t view_stack_of(struct resolve *r, const struct jp_run *run, struct jp_label label)
{
	struct jprof_view *v = r->view;
	struct jp_view_stack stack = {
		.places = run->places, .depth = run->depth, .skip = run->skip, .thread = label.thread, .tag = label.tag
	};
	bool known;
	if (jp_array_push(v->stacks, v->stack_count, r->stack_cap) ||
	    (r->opts->errors && jp_array_push(r->sums, v->stack_count, r->sum_cap)))
		return JP_NONE;
	uint32_t id = id_of_stack(r, &stack, label, &known);
	if (id == JP_NONE || known)
		return id;
	if (keep_places(r, &stack))
		return JP_NONE;
	if (r->opts->labels)
		v->labelled[id].stack = stack;
	v->stacks[v->stack_count++] = stack;
	if (r->opts->errors)
		r->sums[id] = (struct sum){ 0 };
	return add_rows(r, id) ? JP_NONE : id;
}

/* ---- samples ----------------------------------------------------------------------------------------- */

/* What was subtracted from a stack. */
static void add_less(struct resolve *r, uint32_t id, const struct jp_less *less)
{
	for (int c = 0; c < JPROF_COUNTERS; c++)
		r->view->base_total[c] += less->base[c];
	r->view->bases[id] += less->base[r->opts->counter];
	r->view->base_objects[id] += less->base[JPROF_INUSE_OBJECTS];
}

static void add_stack_seen(struct resolve *r, uint32_t id, const struct jp_sample *sample)
{
	struct jp_values values = jp_sample_values(&r->profile->samples, sample);
	struct sum_seen *seen = jp_sample_is_open(r->profile, sample) ? &r->sums[id].open : &r->sums[id].known;
	const struct jp_seen *minus = &jp_values_less(&values)->seen;
	r->sums[id].shift += values.shift[r->opts->counter];
	if (r->next)
		r->sums[id].rounding += jp_split_rounding(&values.plus, minus, r->opts->counter);
	jp_seen_add(&seen->plus, &values.plus, 1);
	jp_seen_add(&seen->minus, minus, 1);
}

/* Room for the numbers of the samples' stacks: for counters that count something, and for what was subtracted. Where
 * stacks come together some of it is never touched. */
static int make_numbers(struct resolve *r)
{
	struct jprof_view *v = r->view;
	const struct jp_samples *samples = &r->profile->samples;
	size_t count = (size_t)jp_sample_count(r->profile) + 1;
	bool used[JPROF_COUNTERS], failed = false;
	jp_samples_used(samples, used);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		failed = failed || (used[c] && !(v->values[c] = calloc(count, sizeof(double))));
	if (v->lineage.subtracted)
		failed = failed || !(v->bases = calloc(count, sizeof(double))) ||
		         !(v->base_objects = calloc(count, sizeof(double)));
	return failed ? -1 : 0;
}

static uint32_t epoch_of(const struct jprof_profile *p, const struct jp_sample *sample)
{
	return jp_sample_label(&p->samples, sample).epoch;
}

/* Whether a sample is as old as is asked for; of what the age is not known it is not. */
static bool keeps_age(const struct resolve *r, const struct jp_sample *sample)
{
	const struct jprof_view *v = r->view;
	uint32_t epoch = r->by_age ? epoch_of(r->profile, sample) : JP_NONE;
	if (!r->by_age)
		return true;
	if (epoch == JP_NONE || v->ages->epochs[epoch].stage == JP_STAGE_UNKNOWN)
		return false;
	uint64_t age = jp_age_of(v->ages, epoch);
	return age >= r->opts->older && (!r->opts->newer || age < r->opts->newer);
}

/* What either side of a difference had sampled of it. */
static void put_sides(const struct resolve *r, const struct jp_values *values, struct jp_view_slice *slice)
{
	const double *base = jp_values_less(values)->base, *change = values->value;
	double rate = r->view->lineage.rate;
	slice->base = base[r->opts->counter];
	slice->early = jp_sampled_about(rate, base[JPROF_INUSE_SPACE], base[JPROF_INUSE_OBJECTS]);
	slice->late = jp_sampled_about(rate, base[JPROF_INUSE_SPACE] + change[JPROF_INUSE_SPACE],
	                               base[JPROF_INUSE_OBJECTS] + change[JPROF_INUSE_OBJECTS]);
}

/* What a stack has of the epoch of one of its samples. */
static int keep_slice(struct resolve *r, uint32_t id, const struct jp_sample *sample, double value)
{
	struct jp_view_slice slice = { .owner = id, .epoch = epoch_of(r->profile, sample), .value = value };
	if (!r->opts->ages || (value < 0 && r->opts->drop_negative))
		return 0;
	const struct jp_values values = jp_sample_values(&r->profile->samples, sample);
	slice.samples = values.plus.n[jp_counts_ever(r->opts->counter)];
	if (r->view->lineage.subtracted)
		put_sides(r, &values, &slice);
	return jp_slices_add(&r->view->slices, &slice);
}

/* The samples of one stack, thread and tag, whose epochs are merged for showing. 0, or -1 when memory is short. */
static int add_values(struct resolve *r, uint32_t id, uint32_t first)
{
	const struct jp_samples *samples = &r->profile->samples;
	double sum[JPROF_COUNTERS] = { 0 }, value[JPROF_COUNTERS];
	for (uint32_t i = first; i != JP_NONE; i = r->next ? r->next[i] : JP_NONE) {
		const struct jp_sample *sample = &samples->items[i];
		jp_sample_estimates(samples, sample, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			sum[c] += value[c];
		if (sample->sum != JP_NONE && r->view->bases)
			add_less(r, id, jp_values_less(&samples->sums[sample->sum]));
		if (r->opts->errors)
			add_stack_seen(r, id, sample);
		if (keep_slice(r, id, sample, value[r->opts->counter]))
			return -1;
	}
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (r->view->values[c])
			r->view->values[c][id] += r->opts->drop_negative && sum[c] < 0 ? 0 : sum[c];
	return 0;
}

/* By stack, then by thread, then by tag, then those that are kept. */
static int order_of_samples(uint32_t a, uint32_t b, const void *context)
{
	const struct resolve *r = context;
	const struct jprof_profile *p = r->profile;
	const struct jp_sample *x = &p->samples.items[a], *y = &p->samples.items[b];
	struct jp_label one = jp_sample_label(&p->samples, x), other = jp_sample_label(&p->samples, y);
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (one.thread != other.thread)
		return one.thread < other.thread ? -1 : 1;
	if (one.tag != other.tag)
		return one.tag < other.tag ? -1 : 1;
	bool kept = keeps_age(r, x);
	if (kept != keeps_age(r, y))
		return kept ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Samples that differ in their epoch alone become chains, in the order of their ids. */
static int chain_epochs(struct resolve *r)
{
	const struct jprof_profile *p = r->profile;
	uint32_t count = jp_sample_count(p);
	if (!jp_has_split_stacks(p) || r->opts->labels)
		return 0;
	uint32_t *order = calloc((size_t)count + 1, sizeof *order);
	r->next = jp_none_array(count);
	r->follows = calloc((size_t)count + 1, sizeof *r->follows);
	for (uint32_t i = 0; order && i < count; i++)
		order[i] = i;
	if (order && r->next && r->follows)
		jp_sort_ids(order, count, order_of_samples, r);
	for (uint32_t i = 1; order && r->next && r->follows && i < count; i++) {
		const struct jp_sample *one = &p->samples.items[order[i - 1]], *other = &p->samples.items[order[i]];
		struct jp_label a = jp_sample_label(&p->samples, one), b = jp_sample_label(&p->samples, other);
		if (one->stack != other->stack || a.thread != b.thread || a.tag != b.tag ||
		    keeps_age(r, one) != keeps_age(r, other))
			continue;
		r->next[order[i - 1]] = order[i];
		r->follows[order[i]] = true;
	}
	free(order);
	return order && r->next && r->follows ? 0 : -1;
}

/* Takes out what lies between the native part of a stack and that of Ruby. 0, or -1 when memory is short. */
static int take_interpreter_out(struct resolve *r, struct jp_run *run, uint32_t native)
{
	uint32_t end = jp_native_end(&r->native_end, run->places, native), ruby = run->depth - native;
	if (!ruby || end == native)
		return 0;
	if (jp_array_reserve(&r->cut, &r->cut_cap, run->depth, sizeof *r->cut))
		return -1;
	memcpy(r->cut, run->places, end * sizeof *r->cut);
	memcpy(r->cut + end, run->places + native, ruby * sizeof *r->cut);
	*run = (struct jp_run){ .places = r->cut, .depth = end + ruby };
	return 0;
}

/* Leaves the native part of a stack, or that of Ruby, which is its outer end. 0, or -1 when memory is short. */
static int choose_part(struct resolve *r, struct jp_run *run)
{
	if (!r->view->origins || (r->opts->ruby == JPROF_RUBY_MERGED && !r->native_end.interpreter))
		return 0;
	uint32_t native = jp_run_native(&r->view->code, run);
	if (r->opts->ruby == JPROF_RUBY_MERGED)
		return take_interpreter_out(r, run, native);
	jp_run_choose(run, native, r->opts->ruby == JPROF_RUBY_ONLY, &r->profile->outside_ruby);
	return 0;
}

/* Whether the tag of a sample is asked for; no tag is an empty text. */
static bool keeps_tag(struct resolve *r, uint32_t tag)
{
	const struct jp_intern *tags = &r->profile->tags;
	uint32_t place = tag == JP_NONE ? tags->count : tag;
	if (!r->tag)
		return true;
	if (!r->tag_found[place]) {
		const char *text = jp_tag_text(tags, tag);
		r->tag_found[place] = jp_pattern_found(r->tag, text, strlen(text)) ? 1 : -1;
	}
	return r->tag_found[place] > 0;
}

static int find_tags(struct resolve *r, struct jprof_error *err)
{
	const char *pattern = r->opts->tag;
	if (!pattern || !*pattern)
		return 0;
	r->tag_found = calloc((size_t)r->profile->tags.count + 1, sizeof *r->tag_found);
	return r->tag_found ? jp_pattern_new(pattern, "tag", &r->tag, err) : jp_error_nomem(err);
}

static int resolve_sample(struct resolve *r, uint32_t first, struct jprof_error *err)
{
	const struct jp_sample *sample = &r->profile->samples.items[first];
	size_t depth;
	struct jp_run run = { .places = jp_stack_get(r->profile, sample->stack, &depth) };
	run.depth = (uint32_t)depth;
	bool managed = r->managers && jp_is_managed(&r->view->code, r->managers, run.places, depth);
	if (choose_part(r, &run))
		return jp_error_nomem(err);
	if (jp_fold_stack(&r->fold, &run))
		return jp_error_nomem(err);
	int rc = jp_pattern_check(r->fold.also, "fold-also", err);
	if (rc)
		return rc;
	if (!keeps_age(r, sample))
		run = (struct jp_run){ .places = run.places };
	rc = r->filter.any ? jp_filter_stack(&r->filter, &run, err) : 0;
	if (rc)
		return rc;
	struct jp_label label = jp_sample_label(&r->profile->samples, sample);
	if (!keeps_tag(r, label.tag))
		run = (struct jp_run){ .places = run.places };
	rc = jp_pattern_check(r->tag, "tag", err);
	if (rc)
		return rc;
	uint32_t id = view_stack_of(r, &run, label);
	if (id == JP_NONE)
		return jp_error_nomem(err);
	r->view->stacks[id].managed |= managed;
	return add_values(r, id, first) ? jp_error_nomem(err) : 0;
}

static bool any_seen(const struct sum_seen *seen, enum jprof_counter counter)
{
	int pair = jp_counts_ever(counter);
	return seen->plus.n[pair] > 0 || seen->minus.n[pair] > 0;
}

static struct jp_evidence evidence_of_sum(const struct jprof_view *v, const struct sum *sum, double value,
                                          enum jprof_counter counter)
{
	struct jp_lineage known = v->lineage;
	known.shared_unknown = false;
	if (!any_seen(&sum->known, counter))
		return jp_evidence_of(&v->lineage, value, sum->shift, &sum->open.plus, &sum->open.minus, counter);
	struct jp_evidence all =
	    jp_evidence_of(&known, value, sum->shift, &sum->known.plus, &sum->known.minus, counter);
	struct jp_evidence open = jp_evidence_of(&v->lineage, 0, 0, &sum->open.plus, &sum->open.minus, counter);
	jp_evidence_add(&all, &open);
	return all;
}

/* What each stack's value rests on. */
static int weigh(struct resolve *r)
{
	struct jprof_view *v = r->view;
	if (!r->opts->errors)
		return 0;
	v->evidence = calloc((size_t)v->stack_count + 1, sizeof *v->evidence);
	for (uint32_t i = 0; v->evidence && i < v->stack_count; i++) {
		v->evidence[i] = evidence_of_sum(v, &r->sums[i], jp_stack_value(v, i), r->opts->counter);
		v->evidence[i].rounding = r->sums[i].rounding;
	}
	return v->evidence ? 0 : -1;
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* Whether a label, "tN" or "tN NAME", is that of the thread meant: by all of it, its number or its name. */
static bool is_labelled(const char *label, const char *wanted)
{
	const char *name = label + strcspn(label, " ");
	size_t digits = (size_t)(name - label) - (*label == 't');
	return !strcmp(label, wanted) || (*name && !strcmp(name + 1, wanted)) ||
	       (*label == 't' && strlen(wanted) == digits && !strncmp(label + 1, wanted, digits));
}

static int find_thread(struct resolve *r, struct jprof_error *err)
{
	const struct jprof_profile *p = r->profile;
	r->thread = JP_NONE;
	for (size_t i = 0; r->opts->thread && i < p->thread_count && r->thread == JP_NONE; i++)
		if (is_labelled(jp_string(p, p->threads[i]), r->opts->thread))
			r->thread = p->threads[i];
	if (!r->opts->thread || r->thread != JP_NONE)
		return 0;
	return jp_advise(err, JPROF_ADVICE_THREAD,
	                 jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "has no thread %s", r->opts->thread));
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static int prepare_view(struct resolve *r, struct jprof_error *err)
{
	struct jprof_view *v = r->view;
	uint32_t *location_of = jp_none_array(v->code.frame_count);
	v->location_of = v->store->location_of = location_of;
	for (uint32_t i = 0; location_of && i < v->code.location_count; i++)
		for (uint32_t f = 0; f < v->code.locations[i].frame_count; f++)
			location_of[v->code.locations[i].frame_first + f] = i;
	if (r->profile->info.has_ruby) {
		v->origins = &v->store->origins;
		if (!location_of || jp_origins_init(&v->store->origins, &v->code, location_of))
			return jp_error_nomem(err);
	}
	bool by_names = v->origins && r->profile->unlearned_ruby && r->opts->ruby == JPROF_RUBY_MERGED;
	if (by_names && jp_native_end_init(&r->native_end, &v->code))
		return jp_error_nomem(err);
	int rc = location_of ? jp_rows_init(&v->store->rows, &v->code, location_of, r->opts, err) : jp_error_nomem(err);
	if (rc)
		return rc;
	v->store->rows.origins = v->origins;
	v->store->rows.tags = &r->profile->tags;
	return jp_fold_init(&r->fold, &v->code, r->opts, err);
}

static void release_resolve(struct resolve *r)
{
	jp_fold_release(&r->fold);
	jp_filter_release(&r->filter);
	jp_index_release(&r->ids);
	jp_native_end_release(&r->native_end);
	free(r->passed);
	free(r->cut);
	free(r->path.rows);
	free(r->sums);
	free(r->next);
	free(r->follows);
	free(r->managers);
	jp_pattern_free(r->tag);
	free(r->tag_found);
}

int jp_view_resolve(struct jprof_view *view, const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                    struct jprof_error *err)
{
	struct resolve r = { .view = view, .profile = profile, .opts = opts, .by_age = opts->older || opts->newer };
	int rc = find_thread(&r, err);
	if (!rc)
		rc = jp_filter_init(&r.filter, &view->code, opts, err);
	if (!rc)
		rc = find_tags(&r, err);
	if (!rc)
		rc = prepare_view(&r, err);
	if (!rc && opts->errors && !(r.managers = jp_managers_of(&view->code)))
		rc = jp_error_nomem(err);
	/* Most samples have stacks of their own. */
	uint32_t count = jp_sample_count(profile);
	if (!rc &&
	    (!(r.passed = calloc((size_t)view->code.location_count + 1, sizeof *r.passed)) || make_numbers(&r) ||
	     chain_epochs(&r) ||
	     (r.thread == JP_NONE && jp_array_reserve(&view->stacks, &r.stack_cap, count, sizeof *view->stacks))))
		rc = jp_error_nomem(err);
	for (uint32_t i = 0; !rc && i < count; i++) {
		uint32_t thread = jp_sample_thread(profile, &profile->samples.items[i]);
		if ((r.thread == JP_NONE || thread == r.thread) && !(r.follows && r.follows[i]) &&
		    jp_is_of_heap(profile, profile->samples.items[i].stack, opts->heap))
			rc = resolve_sample(&r, i, err);
	}
	if (!rc && (weigh(&r) || (opts->ages && jp_slices_order(&view->slices, view->stack_count))))
		rc = jp_error_nomem(err);
	view->row_count = view->store->rows.names.count;
	view->row_object = view->store->rows.object;
	view->row_of_frame = view->store->rows.of_frame;
	view->row_of_object = view->store->rows.of_object;
	release_resolve(&r);
	return rc;
}
