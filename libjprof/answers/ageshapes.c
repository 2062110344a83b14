#include "answers/ageshapes.h"

#include <math.h>
#include <stdlib.h>

#include "model/timeline.h"
#include "statistics/shape.h"
#include "view/view.h"

static const double least_aged = 10; /* samples */

/* In seconds, from the youngest on; of the last three the age does not count, or has no end. */
const struct jprof_age_band *jprof_age_band(size_t i)
{
	static const struct jprof_age_band bands[JPROF_AGE_BANDS] = {
		{ 60, "younger" },
		{ 600, "younger" },
		{ 3600, "younger" },
		{ 6 * 3600.0, "younger" },
		{ 24 * 3600.0, "younger" },
		{ 7 * 24 * 3600.0, "younger" },
		{ INFINITY, "older" },
		[JPROF_AGE_STARTUP] = { INFINITY, "startup" },
		[JPROF_AGE_FORK] = { INFINITY, "before_fork" },
	};
	return i < JPROF_AGE_BANDS ? &bands[i] : NULL;
}

bool jp_has_ages_of_both(const struct jprof_profile *difference)
{
	const struct jp_epochs *epochs = &difference->epochs;
	bool both = jp_epochs_dated(epochs);
	for (uint32_t i = 0; both && i < epochs->names.count; i++)
		both = epochs->processes[i].base_time && !epochs->processes[i].unsure;
	return both;
}

/* ---- the stacks of each row ---------------------------------------------------------------------------------- */

struct row_ages {
	const struct jprof_view *view;
	struct jp_series_rows *rows;
	uint32_t *first, *stacks; /* of row i: stacks[first[i]] ... stacks[first[i + 1] - 1] */
	struct jp_timeline life;  /* of the processes since their startup */
	struct jp_timeline since; /* since the first snapshot */
	uint64_t from;            /* when that was made; milliseconds since 1970 */
};

/* A counting sort. */
static int order_stacks(struct row_ages *a, const uint32_t *row_of)
{
	size_t count = a->rows->series->count;
	a->first = calloc(count + 2, sizeof *a->first);
	a->stacks = calloc((size_t)a->view->stack_count + 1, sizeof *a->stacks);
	if (!a->first || !a->stacks)
		return -1;
	for (uint32_t i = 0; i < a->view->stack_count; i++)
		if (row_of[i] != JP_NONE)
			a->first[row_of[i] + 2]++;
	for (size_t i = 1; i < count + 2; i++)
		a->first[i] += a->first[i - 1];
	for (uint32_t i = 0; i < a->view->stack_count; i++)
		if (row_of[i] != JP_NONE)
			a->stacks[a->first[row_of[i] + 1]++] = i;
	return 0;
}

/* The first snapshot is over when its last dump was made. The time since then is cut like a life of its own. */
static void make_timelines(struct row_ages *a)
{
	const struct jp_epochs *epochs = &a->view->profile->epochs;
	struct jp_ages later = *a->view->ages;
	for (uint32_t i = 0; i < epochs->names.count; i++)
		if (epochs->processes[i].base_time > a->from)
			a->from = epochs->processes[i].base_time;
	later.settled = a->from;
	jp_timeline_make(&a->life, a->view->ages, epochs);
	jp_timeline_make(&a->since, &later, epochs);
}

/* ---- one row --------------------------------------------------------------------------------------------------- */

/* Sampled objects of a row: at the last snapshot by piece of time, and those that it had at the first. */
struct row_samples {
	double startup, life[jp_timeline_most], since[jp_timeline_most];
	double all, recent; /* at the last snapshot; of those what came since the first */
	double early, stayed;
	double bytes[JPROF_AGE_BANDS];
};

static size_t band_of(const struct jp_ages *ages, uint32_t epoch)
{
	enum jp_stage stage = ages->epochs[epoch].stage;
	size_t band = 0;
	if (stage != JP_STAGE_SINCE)
		return stage == JP_STAGE_FORK ? JPROF_AGE_FORK : JPROF_AGE_STARTUP;
	while ((double)jp_age_of(ages, epoch) / 1000 >= jprof_age_band(band)->under)
		band++;
	return band;
}

static void count_slice_of_row(const struct row_ages *a, const struct jp_view_slice *s, struct row_samples *n)
{
	const struct jp_aged *e = s->epoch == JP_NONE ? NULL : &a->view->ages->epochs[s->epoch];
	n->early += s->early;
	n->stayed += fmin(s->early, s->late);
	if (!e || e->stage == JP_STAGE_UNKNOWN)
		return;
	uint32_t piece = jp_timeline_piece(&a->life, e), recent = jp_timeline_piece(&a->since, e);
	bool came = e->begin / 2 + e->end / 2 >= a->from;
	n->all += s->late;
	*(piece == JP_NONE ? &n->startup : &n->life[piece]) += s->late;
	if (recent != JP_NONE && came) {
		n->since[recent] += s->late;
		n->recent += s->late;
	}
	n->bytes[band_of(a->view->ages, s->epoch)] += s->value + s->base;
}

static struct row_samples count_row(const struct row_ages *a, size_t row)
{
	struct row_samples n = { 0 };
	const struct jp_view_slices *slices = &a->view->slices;
	for (uint32_t i = a->first[row]; i < a->first[row + 1]; i++) {
		uint32_t stack = a->stacks[i];
		for (uint32_t k = slices->first[stack]; k < slices->first[stack + 1]; k++)
			count_slice_of_row(a, &slices->items[k], &n);
	}
	return n;
}

/* Seconds before the last snapshot since when all but a few samples came, of those that are not from the startup. */
static double begun_of(const struct row_ages *a, const struct row_samples *n)
{
	static const double few_strays = 0.03;
	double older = 0, own = n->all - n->startup;
	for (uint32_t i = 0; i < a->life.count; i++) {
		older += n->life[i];
		if (older > few_strays * own)
			return (double)(a->view->ages->now - a->life.border[i]) / 1000;
	}
	return NAN;
}

static int keep_row_ages(struct row_ages *a, const struct row_samples *n, struct jprof_grown *row)
{
	double *bytes = jp_arena_alloc(&a->rows->series->arena, sizeof n->bytes);
	for (size_t i = 0; bytes && i < JPROF_AGE_BANDS; i++)
		bytes[i] = n->bytes[i];
	row->ages = bytes;
	row->begun = begun_of(a, n);
	row->kept = n->early >= least_aged ? n->stayed / n->early : NAN;
	return bytes ? 0 : -1;
}

/* How many rows have enough samples to be judged, by all and by what came since the first snapshot. */
static void count_judged(const struct row_ages *a, double judged[2])
{
	for (size_t i = 0; i < a->rows->series->count; i++) {
		const struct row_samples n = count_row(a, i);
		judged[0] += n.all >= least_aged;
		judged[1] += n.recent >= least_aged;
	}
}

int jp_series_ages(struct jp_series_rows *rows, const struct jprof_view *view, const uint32_t *row_of)
{
	struct row_ages a = { .view = view, .rows = rows };
	double judged[2] = { 0, 0 };
	int rc = order_stacks(&a, row_of);
	if (!rc) {
		make_timelines(&a);
		count_judged(&a, judged);
	}
	for (size_t i = 0; !rc && i < rows->series->count; i++) {
		struct jprof_grown *row = &rows->series->rows[i];
		const struct row_samples n = count_row(&a, i);
		if (n.all <= 0)
			continue;
		row->shape = jp_shape_of(&(const struct jp_shape_time){ a.life.length, a.life.count }, n.startup,
		                         n.life, judged[0]);
		row->shape_since =
		    jp_shape_of(&(const struct jp_shape_time){ a.since.length, a.since.count }, 0, n.since, judged[1]);
		rc = keep_row_ages(&a, &n, row);
	}
	free(a.first);
	free(a.stacks);
	return rc;
}
