#include "model/movedsamples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/slotsamples.h"

/* What was moved in one epoch. */
struct moved_epoch {
	double bytes, objects;                   /* that malloc's samples say are in use, */
	double bytes_variance, objects_variance; /* and the variances of the two */
	double owned, owned_variance;            /* bytes that the samples of owners stand for */
	double factor;                           /* by which an owner is given more or less than it stands for */
	bool all;                                /* owners are given all bytes, as far as their lines are known */
	double given;                            /* bytes that go to owners whose line is known */
};

struct moved_load {
	struct jp_ruby_load *ruby;
	uint32_t worker;
	uint32_t no_creator;     /* the place */
	uint32_t innermost;      /* the place in the allocator of a stack of what was moved */
	struct jp_label *labels; /* of each sample of slots whose data may have been moved */
	struct moved_epoch *epochs;
	uint32_t *stack; /* the one under way, innermost first */
	size_t cap;
};

/* ---- what malloc's samples hold ---------------------------------------------------------------------------- */

static struct moved_epoch *moved_epoch_of(const struct moved_load *w, uint32_t epoch)
{
	return &w->epochs[epoch == JP_NONE ? w->ruby->profile->epochs.ids.count : epoch];
}

/* The epoch of a sample whose data was moved; NULL: it is another one. */
static struct moved_epoch *epoch_of_moved(const struct moved_load *w, const struct jp_sample *sample)
{
	const struct jprof_profile *p = w->ruby->profile;
	size_t depth;
	const uint32_t *places = jp_stack_get(p, sample->stack, &depth);
	bool moved = depth > 1 && places[depth - 1] == w->no_creator;
	return moved ? moved_epoch_of(w, jp_sample_label(&p->samples, sample).epoch) : NULL;
}

static void sum_held(struct moved_load *w)
{
	const struct jprof_profile *p = w->ruby->profile;
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		size_t depth;
		struct moved_epoch *e = epoch_of_moved(w, &p->samples.items[i]);
		if (!e)
			continue;
		w->innermost = *jp_stack_get(p, p->samples.items[i].stack, &depth);
		struct jp_values v = jp_sample_values(&p->samples, &p->samples.items[i]);
		e->bytes += v.value[JPROF_INUSE_SPACE];
		e->objects += v.value[JPROF_INUSE_OBJECTS];
		e->bytes_variance += v.plus.variance[JPROF_INUSE_SPACE];
		e->objects_variance += v.plus.variance[JPROF_INUSE_OBJECTS];
	}
}

/* ---- what their owners tell ------------------------------------------------------------------------------- */

/* True if what it stands for can be given to a line. */
static bool has_line(const struct jp_rubyslot *slot)
{
	return slot->moved && slot->frame != JP_NONE;
}

static double chance_of_owner(const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	return slot->slot / jp_rubytable_slot_bytes(t, slot);
}

/* How many bytes of moved data it stands for, by itself. */
static double owned_by_slot(const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	return (double)jp_size_class_above(slot->moved - 1) / chance_of_owner(t, slot);
}

/* What it is given of what its epoch holds: whole bytes, so that two dumps of one state are equal. */
static double given_to_slot(const struct moved_load *w, size_t i, const struct moved_epoch *e)
{
	return floor(owned_by_slot(w->ruby->table, &w->ruby->table->slots[i]) * e->factor);
}

static int label_owners(struct moved_load *w)
{
	const struct jp_rubytable *t = w->ruby->table;
	w->labels = calloc(t->slot_count + 1, sizeof *w->labels);
	for (size_t i = 0; w->labels && i < t->slot_count; i++) {
		w->labels[i] = (struct jp_label){ .thread = JP_NONE, .worker = w->worker };
		if (t->slots[i].moved && jp_ruby_label(w->ruby, t->slots[i].epoch, t->slots[i].tag, &w->labels[i]))
			return -1;
	}
	return w->labels ? 0 : -1;
}

/* All that is held is theirs, unless that is more than they stand for by above a standard error. */
static void compare_owned(struct moved_epoch *e)
{
	double most = e->owned + sqrt(e->owned_variance);
	e->all = most >= e->bytes;
	e->factor = e->owned > 0 ? (e->all ? e->bytes : most) / e->owned : 0;
}

static void sum_owned(struct moved_load *w, uint32_t epochs)
{
	const struct jp_rubytable *t = w->ruby->table;
	for (size_t i = 0; i < t->slot_count; i++) {
		if (!t->slots[i].moved)
			continue;
		struct moved_epoch *e = moved_epoch_of(w, w->labels[i].epoch);
		double owned = floor(owned_by_slot(t, &t->slots[i]));
		e->owned += owned;
		e->owned_variance += owned * owned * (1 - chance_of_owner(t, &t->slots[i]));
	}
	for (uint32_t i = 0; i < epochs; i++)
		compare_owned(&w->epochs[i]);
	for (size_t i = 0; i < t->slot_count; i++) {
		struct moved_epoch *e = moved_epoch_of(w, w->labels[i].epoch);
		if (has_line(&t->slots[i]))
			e->given += given_to_slot(w, i, e);
	}
}

/* ---- dividing --------------------------------------------------------------------------------------------- */

/* What of a sample's number stays, without a line; where nothing does, no error stays either. */
static void keep_rest(struct jp_values *v, double rest)
{
	for (int c = JPROF_INUSE_SPACE; c <= JPROF_INUSE_OBJECTS; c++) {
		v->value[c] *= rest;
		v->shift[c] *= rest;
		v->plus.variance[c] *= rest > 0;
	}
	v->plus.n[0] *= rest > 0;
	v->plus.rounding[0] *= rest > 0;
}

static int take_given(struct moved_load *w)
{
	struct jprof_profile *p = w->ruby->profile;
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		const struct moved_epoch *e = epoch_of_moved(w, &p->samples.items[i]);
		if (!e || !e->given)
			continue;
		struct jp_values *sum = jp_sample_sum(&p->samples, &p->samples.items[i]);
		if (!sum)
			return -1;
		double rest = 1 - e->given / e->bytes;
		keep_rest(sum, rest > 1e-3 ? rest : 0);
	}
	return 0;
}

/* The same objects are in the row of their slots, beside which the data stands: variances of the two add up to that of
 * the sum. Where all that is held is given, its error comes with it. */
static struct jp_values values_of_moved(const struct moved_load *w, size_t i, const struct moved_epoch *e)
{
	const struct jp_rubyslot *slot = &w->ruby->table->slots[i];
	double bytes = given_to_slot(w, i, e), p = chance_of_owner(w->ruby->table, slot), slots = slot->slot / p;
	const double worth[] = { [JPROF_INUSE_SPACE] = bytes, [JPROF_INUSE_OBJECTS] = bytes * e->objects / e->bytes },
		     beside[] = { [JPROF_INUSE_SPACE] = slots, [JPROF_INUSE_OBJECTS] = 1 / p },
		     whole[] = { [JPROF_INUSE_SPACE] = e->bytes_variance, [JPROF_INUSE_OBJECTS] = e->objects_variance };
	struct jp_values v = { .plus = { .n = { 1, 0 } } };
	for (int c = JPROF_INUSE_SPACE; c <= JPROF_INUSE_OBJECTS; c++) {
		v.value[c] = worth[c];
		v.plus.variance[c] = (worth[c] * worth[c] + 2 * worth[c] * beside[c]) * (1 - p);
		if (e->all)
			v.plus.variance[c] += whole[c] * bytes / e->bytes;
		v.plus.worth[c] = (float)worth[c];
		v.plus.open[c] = (float)(1 - p);
	}
	return v;
}

/* Of the native part there is the call of the allocator: how a collection comes to move data says nothing of it. */
static int give_to_slot(struct moved_load *w, size_t i, const struct moved_epoch *e)
{
	struct jprof_profile *p = w->ruby->profile;
	const struct jp_rubyslot *slot = &w->ruby->table->slots[i];
	size_t depth = w->ruby->table->frames[slot->frame].depth + 2;
	struct jp_values values = values_of_moved(w, i, e);
	if (jp_array_reserve(&w->stack, &w->cap, depth, sizeof *w->stack))
		return -1;
	w->stack[0] = w->innermost;
	w->stack[1] = jp_ruby_moved(p, w->ruby->object, jp_slot_class(w->ruby->table, slot));
	if (w->stack[1] == JP_NONE || jp_ruby_frames(w->ruby, slot->frame, w->stack + 2))
		return -1;
	return jp_sample_add(p, w->stack, depth, w->labels[i], &values, 1);
}

static int divide_moved(struct moved_load *w)
{
	const struct jp_rubytable *t = w->ruby->table;
	uint32_t count = w->ruby->profile->epochs.ids.count + 1;
	w->epochs = calloc(count, sizeof *w->epochs);
	if (!w->epochs)
		return -1;
	sum_held(w);
	sum_owned(w, count);
	int rc = take_given(w);
	for (size_t i = 0; !rc && i < t->slot_count; i++) {
		const struct moved_epoch *e = moved_epoch_of(w, w->labels[i].epoch);
		if (has_line(&t->slots[i]) && given_to_slot(w, i, e) > 0)
			rc = give_to_slot(w, i, e);
	}
	return rc;
}

static bool has_moved(const struct jp_rubytable *t)
{
	size_t i = 0;
	while (i < t->slot_count && !has_line(&t->slots[i]))
		i++;
	return i < t->slot_count;
}

int jp_moved_samples_divide(struct jp_ruby_load *load, uint32_t worker)
{
	if (!has_moved(load->table))
		return 0;
	struct moved_load w = { .ruby = load,
		                .worker = worker,
		                .no_creator = jp_ruby_no_creator(load->profile, load->object) };
	bool failed = w.no_creator == JP_NONE || label_owners(&w) || divide_moved(&w);
	free(w.labels);
	free(w.epochs);
	free(w.stack);
	return failed ? -1 : 0;
}

/* ---- and back --------------------------------------------------------------------------------------------- */

/* Where a stack says whose data was moved; `depth` where it does not. */
static size_t moved_at(const struct jprof_profile *p, const uint32_t *places, size_t depth)
{
	size_t i = 0;
	for (; i < depth; i++) {
		const struct jp_location *l = &p->locations[places[i]];
		if (l->source == JPROF_SOURCE_RUBY && l->frame_count &&
		    jp_ruby_moved_class(jp_string(p, p->functions[p->frames[l->frame_first].function].system)))
			break;
	}
	return i;
}

/* The sample without a creator that takes a moved one back. NULL when memory is short. */
static struct jp_sample *sample_back(struct jprof_profile *p, const uint32_t *native, size_t count, uint32_t no_creator,
                                     struct jp_label label)
{
	uint32_t *stack = malloc((count + 1) * sizeof *stack), id;
	if (!stack)
		return NULL;
	memcpy(stack, native, count * sizeof *stack);
	stack[count] = no_creator;
	label.tag = JP_NONE;
	uint32_t all = jp_stack_id(&p->stacks, stack, count + 1);
	free(stack);
	struct jp_sample *s = jp_label_id(&p->samples, label, &id) ? jp_sample_make(&p->samples, all, id, NULL) : NULL;
	struct jp_values *sum = s ? jp_sample_sum(&p->samples, s) : NULL;
	return sum && jp_values_make_less(&p->samples, sum) ? s : NULL;
}

int jp_moved_samples_back(struct jprof_profile *p, uint32_t **back, uint32_t *samples)
{
	uint32_t object = jp_ruby_object(p), count = *samples = jp_sample_count(p);
	uint32_t no_creator = object == JP_NONE ? JP_NONE : jp_ruby_no_creator(p, object);
	*back = jp_none_array(count + 1);
	if (!*back || no_creator == JP_NONE)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		size_t depth;
		const uint32_t *places = jp_stack_get(p, p->samples.items[i].stack, &depth);
		size_t native = moved_at(p, places, depth);
		if (native == depth)
			continue;
		struct jp_label label = jp_sample_label(&p->samples, &p->samples.items[i]);
		const struct jp_sample *s = sample_back(p, places, native, no_creator, label);
		if (!s)
			return -1;
		(*back)[i] = (uint32_t)(s - p->samples.items);
	}
	return 0;
}

void jp_moved_samples_undo(struct jprof_profile *p, const uint32_t *back, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (back[i] == JP_NONE)
			continue;
		struct jp_values *from = &p->samples.sums[p->samples.items[i].sum];
		int rc = jp_values_add(&p->samples, &p->samples.sums[p->samples.items[back[i]].sum], from, 1);
		(void)rc; /* it has its `less`, and so cannot fail */
		*from = (struct jp_values){ 0 };
	}
}
