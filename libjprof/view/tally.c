#include "view/tally.h"

#include <math.h>
#include <stdlib.h>

#include "view/origin.h"
#include "view/rowages.h"
#include "view/rows.h"
#include "view/walk.h"

/* ---- where rows lie --------------------------------------------------------------------------------- */

static const char *null_if_empty(const char *text)
{
	return *text ? text : NULL;
}

/* Strings of one profile: equal ones are the same. */
static void place_row(struct jprof_row *row, bool first, const struct jprof_row *like)
{
	row->object = first || row->object == like->object ? like->object : NULL;
	row->file = first || row->file == like->file ? like->file : NULL;
	row->line = first || (row->line == like->line && row->file) ? like->line : 0;
	row->source = first || like->source < row->source ? like->source : row->source;
	row->origin = first || row->origin == like->origin ? like->origin : JPROF_ORIGIN_NATIVE;
	row->library = first || row->library == like->library ? like->library : NULL;
}

static void place_frame(const struct jprof_view *v, uint32_t id, struct jprof_row *row, bool first)
{
	static const struct jp_frame none = { .function = JP_NONE };
	const struct jp_frame *frame = id < v->code.frame_count ? &v->code.frames[id] : &none;
	const struct jp_location *l = jp_frame_location(v, id);
	const char *file = frame->function == JP_NONE ? "" : jp_code_file(&v->code, frame->function);
	struct jprof_row like = { .object = null_if_empty(jp_code_object(&v->code, l->object)),
		                  .file = null_if_empty(file),
		                  .line = frame->line,
		                  .source = l->source };
	if (v->origins) {
		const struct jp_origin *origin = jp_origin_of(v->origins, id);
		like.origin = origin->origin;
		like.library = null_if_empty(jp_origin_label(v->origins, origin));
	}
	place_row(row, first, &like);
}

static void place_object(const struct jprof_view *v, uint32_t object, struct jprof_row *row, bool first)
{
	place_row(row, first, &(const struct jprof_row){ .object = null_if_empty(jp_code_object(&v->code, object)) });
}

/* A row lies where all of its frames do, or its object files. */
struct placing {
	struct jprof_view *view;
	bool *placed, *seen; /* by row; by frame or by object */
	bool *passed;        /* by place: all of it was seen */
};

static void place_once(struct placing *p, uint32_t thing, uint32_t row,
                       void (*place)(const struct jprof_view *v, uint32_t id, struct jprof_row *row, bool first))
{
	if (p->seen[thing])
		return;
	p->seen[thing] = true;
	place(p->view, thing, &p->view->rows[row], !p->placed[row]);
	p->placed[row] = true;
}

static void place_stack(struct placing *p, const struct jp_view_stack *stack)
{
	const struct jprof_view *v = p->view;
	for (uint32_t i = 0; i < stack->depth; i++) {
		if (p->passed[stack->places[i]])
			continue;
		uint32_t count, first = jp_place_frames(v, stack, i, &count);
		uint32_t object = v->code.locations[stack->places[i]].object;
		p->passed[stack->places[i]] = i || !stack->skip;
		if (v->paths && v->row_of_object[object] != JP_NONE)
			place_once(p, object, v->row_of_object[object], place_object);
		if (!v->paths && first >= v->code.frame_count) {
			if (!v->nameless)
				place_once(p, first, v->row_of_object[object], place_frame);
			continue;
		}
		for (uint32_t f = first; !v->paths && f < first + count; f++)
			place_once(p, f, v->row_of_frame[f], place_frame);
	}
}

static int place_rows(struct jprof_view *v)
{
	size_t things = v->paths ? v->code.object_count : v->code.frame_count;
	if (v->code.lean && !v->paths && !v->nameless)
		things += v->code.location_count;
	struct placing p = { v, calloc((size_t)v->row_count + 1, 1), calloc(things + 1, 1),
		             calloc((size_t)v->code.location_count + 1, 1) };
	int rc = p.placed && p.seen && p.passed ? 0 : -1;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++)
		place_stack(&p, &v->stacks[i]);
	free(p.placed);
	free(p.seen);
	free(p.passed);
	return rc;
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* What is in a row's flat value: objects and their bytes. */
struct row_objects {
	double objects, bytes;
};

struct row_tally {
	struct jprof_view *view;
	struct jp_walk walk;
	uint32_t *seen;              /* by row */
	struct row_objects *objects; /* by row, those without frames aside */
};

static void count_objects(struct row_tally *t, uint32_t row, uint32_t stack)
{
	double bytes, objects = jp_stack_objects(t->view, stack, &bytes);
	if (row >= t->view->row_count)
		return;
	t->objects[row].objects += objects;
	t->objects[row].bytes += bytes;
}

/* What is in use of what a stack has ever allocated. */
static void count_live(struct row_tally *t, uint32_t row, uint32_t stack)
{
	const struct jprof_view *v = t->view;
	if (row < v->row_count && jp_counts_ever(v->info.counter))
		v->rows[row].live += jp_stack_number(
		    v, stack, v->info.counter == JPROF_ALLOC_SPACE ? JPROF_INUSE_SPACE : JPROF_INUSE_OBJECTS);
}

/* Of a difference in which objects came and bytes went there is no mean. */
static void put_means(struct row_tally *t)
{
	for (uint32_t i = 0; i < t->view->row_count; i++) {
		const struct row_objects *o = &t->objects[i];
		bool sized = o->objects != 0 && o->bytes / o->objects > 0;
		t->view->rows[i].mean = sized ? o->bytes / o->objects : NAN;
	}
}

static void count_flat(struct row_tally *t, uint32_t row, uint32_t id, double value)
{
	struct jprof_view *v = t->view;
	*(row < v->row_count ? &v->rows[row].flat : &v->nameless[row - v->row_count].flat) += value;
	v->info.flat += value;
	count_objects(t, row, id);
	count_live(t, row, id);
	if (v->row_evidence)
		jp_evidence_add(&v->row_evidence[row].flat, &v->evidence[id]);
}

static void count_cum(struct row_tally *t, uint32_t row, uint32_t id, double value)
{
	if (!jp_first_in_stack(&t->seen[row], id))
		return;
	*(row < t->view->row_count ? &t->view->rows[row].cum : &t->view->nameless[row - t->view->row_count].cum) +=
	    value;
	if (t->view->row_evidence)
		jp_evidence_add(&t->view->row_evidence[row].cum, &t->view->evidence[id]);
}

static void count_path(struct row_tally *t, uint32_t id, const struct jp_view_path *path)
{
	double value = jp_stack_value(t->view, id);
	if (path->length)
		count_flat(t, path->rows[path->inner], id, value);
	for (uint32_t i = 0; i < path->length; i++)
		count_cum(t, path->rows[i], id, value);
}

static void count_stack(struct row_tally *t, uint32_t id)
{
	const struct jp_walk *w = &t->walk;
	if (t->view->paths) {
		count_path(t, id, &t->view->paths[id]);
		return;
	}
	jp_walk_rows(&t->walk, id);
	count_path(t, id, &(const struct jp_view_path){ w->rows, w->inner, w->length });
}

/* A place without frames, of which there are no errors either. */
static void count_nameless(struct row_tally *t, uint32_t place, uint32_t id, double value)
{
	if (jp_first_in_stack(&t->seen[t->view->row_count + place], id))
		t->view->nameless[place].cum += value;
}

/* The same where the rows are those of all frames, and the innermost has the flat value: nothing is laid out. */
static void count_frames(struct row_tally *t, uint32_t id)
{
	const struct jprof_view *v = t->view;
	const struct jp_view_stack *stack = &v->stacks[id];
	const struct jp_location *locations = v->code.locations;
	const uint32_t *places = stack->places, *row_of_frame = v->row_of_frame, depth = stack->depth;
	const double value = jp_stack_value(v, id);
	uint32_t count, skip = stack->skip;
	if (depth)
		count_flat(t, jp_row_of_frame(v, jp_place_frames(v, stack, 0, &count)), id, value);
	for (uint32_t i = 0; i < depth; i++, skip = 0) {
		const struct jp_location *l = &locations[places[i]];
		const uint32_t *row = row_of_frame + l->frame_first, *end = row + l->frame_count;
		if (row < end)
			for (row += skip; row < end; row++)
				count_cum(t, *row, id, value);
		else if (v->nameless)
			count_nameless(t, places[i], id, value);
		else
			count_cum(t, jp_row_of_frame(v, v->code.frame_count + places[i]), id, value);
	}
}

static void put_total_range(struct jprof_view *v)
{
	struct jp_evidence all = { 0 };
	for (uint32_t i = 0; i < v->stack_count; i++)
		jp_evidence_add(&all, &v->evidence[i]);
	v->info.range = jp_evidence_total_range(&v->lineage, v->profile->rate, &all, v->info.counter);
}

static void sum_view(struct jprof_view *v)
{
	for (uint32_t i = 0; i < v->stack_count; i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			v->total[c] += jp_stack_number(v, i, c);
	v->info.total = v->total[v->info.counter];
	v->info.base = v->base_total[v->info.counter];
	uint32_t program = jp_code_program(&v->code);
	v->info.program = program == JP_NONE ? NULL : jp_code_object(&v->code, program);
	for (uint32_t i = 0; i < v->row_count; i++)
		v->info.rows += v->rows[i].flat != 0 || v->rows[i].cum != 0;
	for (uint32_t i = 0; v->nameless && i < v->code.location_count; i++)
		v->info.rows += v->nameless[i].flat != 0 || v->nameless[i].cum != 0;
	/* Of an empty base there are no shares. */
	double base = v->base_total[v->info.counter];
	if (v->percent_of_base && base != 0) {
		v->info.percent_of = base;
		v->info.shares = JPROF_SHARES_OF_BASE;
	} else if (v->percent_of_changes && v->info.difference) {
		double sum = 0;
		for (uint32_t i = 0; i < v->stack_count; i++)
			sum += v->stacks[i].depth ? fabs(jp_stack_value(v, i)) : 0;
		v->info.percent_of = sum;
		v->info.shares = JPROF_SHARES_OF_CHANGES;
	}
}

static int count_rows(struct jprof_view *v)
{
	size_t rows = (size_t)v->row_count + (v->nameless ? v->code.location_count : 0);
	struct row_tally t = { .view = v, .seen = calloc(rows + 1, sizeof *t.seen) };
	if (v->evidence)
		v->row_evidence = calloc((size_t)v->row_count + 1, sizeof *v->row_evidence);
	t.objects = calloc((size_t)v->row_count + 1, sizeof *t.objects);
	int rc = jp_walk_init(&t.walk, v) || !t.seen || !t.objects || (v->evidence && !v->row_evidence) ? -1 : 0;
	bool laid_out = v->paths || jp_view_has_sites(v);
	for (uint32_t i = 0; !rc && i < v->stack_count; i++)
		(laid_out ? count_stack : count_frames)(&t, i);
	if (!rc && v->evidence)
		put_total_range(v);
	if (!rc)
		put_means(&t);
	jp_walk_release(&t.walk);
	free(t.seen);
	free(t.objects);
	return rc;
}

int jp_view_tally(struct jprof_view *v, jp_row_name_fn *name, const void *context)
{
	v->rows = calloc((size_t)v->row_count + 1, sizeof *v->rows);
	for (uint32_t i = 0; v->rows && i < v->row_count; i++)
		v->rows[i].name = name(context, i);
	if (v->code.lean && v->info.granularity != JPROF_BY_FILE && !jp_rows_by_path(v->info.granularity) &&
	    !(v->nameless = calloc((size_t)v->code.location_count + 1, sizeof *v->nameless)))
		return -1;
	if (!v->rows || place_rows(v) || count_rows(v))
		return -1;
	sum_view(v);
	/* Estimates of nothing freed may differ by their rounding. */
	for (uint32_t i = 0; jp_counts_ever(v->info.counter) && i < v->row_count; i++) {
		double freed = v->rows[i].flat - v->rows[i].live;
		v->rows[i].freed = freed < 0 && !v->info.difference ? 0 : freed;
	}
	return v->info.ages ? jp_view_age_rows(v) : 0;
}
