/* The view of one thread of another: it shares that one's tables, and has stacks and rows of its own. */
#include <stdlib.h>

#include "base/error.h"
#include "view/heading.h"
#include "view/rowages.h"
#include "view/store.h"
#include "view/tally.h"

/* Rows have ids of their own in a part. */
struct thread_part {
	struct jprof_view *view;
	uint32_t *id;  /* by the whole's row; JP_NONE: not in the part */
	uint32_t *row; /* the whole's, by id */
};

static const char *name_in_part(const void *context, uint32_t row)
{
	const struct thread_part *p = context;
	return p->view->whole->rows[p->row[row]].name;
}

static uint32_t part_row(struct thread_part *p, uint32_t row)
{
	uint32_t *id = &p->id[row];
	if (*id == JP_NONE) {
		*id = p->view->row_count++;
		p->row[*id] = row;
		p->view->row_object[*id] = p->view->whole->row_object[row];
	}
	return *id;
}

static int part_path(struct thread_part *p, const struct jp_view_path *path)
{
	struct jprof_view *v = p->view;
	uint32_t *rows = jp_arena_alloc(&v->store->places, ((size_t)path->length + 1) * sizeof *rows);
	for (uint32_t i = 0; rows && i < path->length; i++)
		rows[i] = part_row(p, path->rows[i]);
	v->paths[v->stack_count] = (struct jp_view_path){ rows, path->inner, path->length };
	return rows ? 0 : -1;
}

static void part_rows(struct thread_part *p, const struct jp_view_stack *stack)
{
	struct jprof_view *v = p->view;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t count, first = jp_place_frames(v, stack, i, &count);
		uint32_t object = v->code.locations[stack->places[i]].object;
		if (v->paths && v->whole->row_of_object[object] != JP_NONE)
			v->row_of_object[object] = part_row(p, v->whole->row_of_object[object]);
		for (uint32_t f = first; !v->paths && f < first + count; f++)
			v->row_of_frame[f] = part_row(p, v->whole->row_of_frame[f]);
	}
}

static int part_slices(struct jprof_view *v, uint32_t id)
{
	const struct jp_view_slices *from = &v->whole->slices;
	for (uint32_t i = from->first[id]; i < from->first[id + 1]; i++) {
		struct jp_view_slice slice = from->items[i];
		slice.owner = v->stack_count;
		if (jp_slices_add(&v->slices, &slice))
			return -1;
	}
	return 0;
}

static int part_stacks(struct thread_part *p, size_t thread)
{
	struct jprof_view *v = p->view;
	const struct jprof_view *whole = v->whole;
	for (uint32_t i = whole->thread_first[thread]; i < whole->thread_first[thread + 1]; i++) {
		uint32_t id = whole->by_thread[i];
		v->stacks[v->stack_count] = whole->stacks[id];
		if (v->evidence)
			v->evidence[v->stack_count] = whole->evidence[id];
		for (int c = 0; c < JPROF_COUNTERS; c++)
			if (v->values[c])
				v->values[c][v->stack_count] = whole->values[c][id];
		if (v->bases)
			v->bases[v->stack_count] = whole->bases[id];
		v->base_total[v->info.counter] += jp_stack_base(whole, id);
		if (v->paths && part_path(p, &whole->paths[id]))
			return -1;
		part_rows(p, &whole->stacks[id]);
		if (v->info.ages && part_slices(v, id))
			return -1;
		v->stack_count++;
	}
	return v->info.ages ? jp_slices_order(&v->slices, v->stack_count) : 0;
}

static int make_part(struct thread_part *p, size_t thread)
{
	struct jprof_view *v = p->view;
	const struct jprof_view *whole = v->whole;
	size_t stacks = (size_t)whole->thread_first[thread + 1] - whole->thread_first[thread] + 1;
	v->store = calloc(1, sizeof *v->store);
	v->stacks = calloc(stacks, sizeof *v->stacks);
	v->evidence = whole->evidence ? calloc(stacks, sizeof *v->evidence) : NULL;
	bool numbers = true;
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (v->whole->values[c])
			numbers = (v->values[c] = calloc(stacks, sizeof(double))) && numbers;
	if (v->whole->bases)
		numbers = (v->bases = calloc(stacks, sizeof(double))) && numbers;
	v->paths = whole->paths ? calloc(stacks, sizeof *v->paths) : NULL;
	v->row_object = calloc((size_t)whole->row_count + 1, sizeof *v->row_object);
	v->row_of_frame = jp_none_array(whole->code.frame_count);
	v->row_of_object = jp_none_array(whole->code.object_count);
	p->row = calloc((size_t)whole->row_count + 1, sizeof *p->row);
	p->id = jp_none_array(whole->row_count);
	if (!v->store || !v->stacks || !numbers || (whole->evidence && !v->evidence) || (whole->paths && !v->paths) ||
	    !v->row_object || !v->row_of_frame || !v->row_of_object || !p->row || !p->id || part_stacks(p, thread) ||
	    jp_view_tally(v, name_in_part, p))
		return -1;
	for (uint32_t i = 0; i < v->row_count; i++) {
		v->rows[i].what = whole->rows[p->row[i]].what;
		v->rows[i].remedy = whole->rows[p->row[i]].remedy;
	}
	v->info.heading = jp_thread_heading(&v->store->places, v->info.thread, v->info.thread);
	return v->info.heading ? 0 : -1;
}

int jprof_view_thread(const struct jprof_view *whole, size_t i, struct jprof_view **out, struct jprof_error *err)
{
	if (jp_null(err, whole, out))
		return JPROF_E_ARGUMENT;
	if (whole->code.lean)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	if (i >= whole->thread_count)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "the view has %zu thread labels, and none of number %zu", whole->thread_count, i);
	struct jprof_view *v = calloc(1, sizeof *v);
	struct thread_part p = { .view = v };
	if (!v)
		return jp_error_nomem(err);
	*v = (struct jprof_view){
		.code = whole->code,
		.info = { .counter = whole->info.counter,
		          .granularity = whole->info.granularity,
		          .full_names = whole->info.full_names,
		          .errors = whole->info.errors,
		          .ages = whole->info.ages,
		          .older = whole->info.older,
		          .newer = whole->info.newer,
		          .difference = whole->info.difference,
		          .thread = jp_code_string(&whole->code, whole->threads[i]) },
		.percent_of_base = whole->percent_of_base,
		.percent_of_changes = whole->percent_of_changes,
		.lineage = whole->lineage,
		.profile = whole->profile,
		.location_of = whole->location_of,
		.origins = whole->origins,
		.ages = whole->ages,
		.deepest = whole->deepest,
		.longest = whole->longest,
		.whole = whole,
	};
	int rc = make_part(&p, i);
	free(p.id);
	free(p.row);
	if (!rc) {
		*out = v;
		return 0;
	}
	jprof_view_free(v);
	return jp_error_nomem(err);
}
