#include "view/rowages.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/timeline.h"
#include "statistics/shape.h"
#include "view/walk.h"

enum { hour_ms = 3600000, least_worth = 10 };

int jp_slices_add(struct jp_view_slices *s, const struct jp_view_slice *slice)
{
	if (jp_array_push(s->items, s->count, s->cap))
		return -1;
	s->items[s->count++] = *slice;
	return 0;
}

int jp_slices_order(struct jp_view_slices *s, uint32_t owners)
{
	struct jp_view_slice *ordered = calloc(s->count + 1, sizeof *ordered);
	s->first = calloc((size_t)owners + 2, sizeof *s->first);
	if (!ordered || !s->first) {
		free(ordered);
		return -1;
	}
	for (size_t i = 0; i < s->count; i++)
		s->first[s->items[i].owner + 2]++;
	for (size_t i = 1; i < (size_t)owners + 2; i++)
		s->first[i] += s->first[i - 1];
	for (size_t i = 0; i < s->count; i++)
		ordered[s->first[s->items[i].owner + 1]++] = s->items[i];
	free(s->items);
	s->items = ordered;
	s->cap = s->count;
	return 0;
}

void jp_slices_release(struct jp_view_slices *s)
{
	free(s->items);
	free(s->first);
	*s = (struct jp_view_slices){ 0 };
}

/* ---- sums by row ------------------------------------------------------------------------------------------- */

struct age_sums {
	struct jprof_view *view;
	struct jp_walk walk;
	struct jp_index ids;
	uint32_t *seen; /* by row */
};

static uint64_t hash_slice(uint64_t seed, const void *item)
{
	const struct jp_view_slice *s = item;
	return jp_hash_mix(seed, (uint64_t)s->owner << 32 | s->epoch);
}

static bool same_slice(const void *a, const void *b)
{
	const struct jp_view_slice *x = a, *y = b;
	return x->owner == y->owner && x->epoch == y->epoch;
}

static int add_slice(struct age_sums *a, uint32_t row, const struct jp_view_slice *of_stack)
{
	static const struct jp_index_kind kind = { sizeof(struct jp_view_slice), hash_slice, same_slice };
	struct jp_view_slices *to = &a->view->row_slices;
	const struct jp_view_slice like = { .owner = row, .epoch = of_stack->epoch };
	bool known;
	if (jp_array_push(to->items, to->count, to->cap))
		return -1;
	uint32_t id = jp_index_id(&a->ids, &kind, to->items, &like, &known);
	if (id == JP_NONE)
		return -1;
	if (!known)
		to->items[to->count++] = like;
	to->items[id].value += of_stack->value;
	to->items[id].samples += of_stack->samples;
	return 0;
}

static int add_slices_of_stack(struct age_sums *a, uint32_t stack, uint32_t row)
{
	const struct jp_view_slices *from = &a->view->slices;
	int rc = 0;
	for (uint32_t i = from->first[stack]; !rc && i < from->first[stack + 1]; i++)
		rc = add_slice(a, row, &from->items[i]);
	return rc;
}

static int age_stack(struct age_sums *a, uint32_t stack)
{
	const struct jp_walk *w = &a->walk;
	int rc = 0;
	jp_walk_rows(&a->walk, stack);
	if (a->view->info.ages == JPROF_AGES_FLAT)
		return w->length ? add_slices_of_stack(a, stack, w->rows[w->inner]) : 0;
	for (uint32_t i = 0; !rc && i < w->length; i++)
		if (jp_first_in_stack(&a->seen[w->rows[i]], stack))
			rc = add_slices_of_stack(a, stack, w->rows[i]);
	return rc;
}

static int sum_slices(struct jprof_view *v)
{
	struct age_sums a = { .view = v, .seen = calloc((size_t)v->row_count + 1, sizeof *a.seen) };
	int rc = jp_walk_init(&a.walk, v) || !a.seen ? -1 : 0;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++)
		rc = age_stack(&a, i);
	jp_walk_release(&a.walk);
	jp_index_release(&a.ids);
	free(a.seen);
	return rc ? rc : jp_slices_order(&v->row_slices, v->row_count);
}

const struct jp_view_slice *jp_row_slices(const struct jprof_view *v, const struct jprof_row *row, size_t *count)
{
	size_t id = (size_t)(row - v->rows);
	*count = v->row_slices.first[id + 1] - v->row_slices.first[id];
	return v->row_slices.items + v->row_slices.first[id];
}

/* ---- what they say of rows --------------------------------------------------------------------------------- */

const char *jp_age_label(const struct jp_ages *ages, uint32_t epoch)
{
	enum jp_stage stage = !ages || epoch == JP_NONE ? JP_STAGE_UNKNOWN : ages->epochs[epoch].stage;
	switch (stage) {
	case JP_STAGE_FORK: return "before the fork";
	case JP_STAGE_STARTUP: return "startup";
	case JP_STAGE_SINCE: return jp_age_of(ages, epoch) < hour_ms ? "last hour" : "older";
	default: return NULL;
	}
}

void jp_row_add_age(const struct jprof_view *v, const struct jp_view_slice *s, struct jprof_row *row)
{
	enum jp_stage stage = s->epoch == JP_NONE ? JP_STAGE_UNKNOWN : v->ages->epochs[s->epoch].stage;
	row->shape_samples += s->samples;
	if (stage == JP_STAGE_FORK)
		row->before_fork += s->value;
	else if (stage == JP_STAGE_STARTUP)
		row->startup += s->value;
	else if (stage == JP_STAGE_SINCE && jp_age_of(v->ages, s->epoch) < hour_ms)
		row->last_hour += s->value;
	else if (stage == JP_STAGE_SINCE)
		row->older += s->value;
}

static void find_shape(const struct jprof_view *v, const struct jp_timeline *line, double rows, struct jprof_row *row)
{
	double startup = 0, n[jp_timeline_most] = { 0 };
	size_t count;
	const struct jp_view_slice *s = jp_row_slices(v, row, &count);
	for (size_t i = 0; i < count; i++) {
		const struct jp_aged *e = s[i].epoch == JP_NONE ? NULL : &v->ages->epochs[s[i].epoch];
		uint32_t piece = e ? jp_timeline_piece(line, e) : JP_NONE;
		if (piece != JP_NONE)
			n[piece] += s[i].samples;
		else if (e && e->stage != JP_STAGE_UNKNOWN)
			startup += s[i].samples;
	}
	row->shape = jp_shape_of(&(const struct jp_shape_time){ line->length, line->count }, startup, n, rows);
}

/* A filter by age leaves no shape to see. */
static bool has_shapes(const struct jprof_view *v)
{
	return !v->info.difference && !v->info.older && !v->info.newer && !jp_counts_ever(v->info.counter);
}

int jp_view_age_rows(struct jprof_view *v)
{
	struct jp_timeline line;
	double judged = 0;
	if (sum_slices(v))
		return -1;
	for (size_t i = 0; i < v->row_slices.count; i++)
		jp_row_add_age(v, &v->row_slices.items[i], &v->rows[v->row_slices.items[i].owner]);
	for (uint32_t i = 0; i < v->row_count; i++) {
		judged += v->rows[i].shape_samples >= least_worth;
		v->info.forked = v->info.forked || v->rows[i].before_fork != 0;
	}
	jp_timeline_make(&line, v->ages, &v->profile->epochs);
	for (uint32_t i = 0; i < v->row_count && has_shapes(v); i++)
		if (v->row_slices.first[i] < v->row_slices.first[i + 1])
			find_shape(v, &line, judged, &v->rows[i]);
	return 0;
}
