#include "view/callers.h"

#include <stdlib.h>

#include "view/rows.h"
#include "view/walk.h"

/* What is known of the callers of a row. */
enum callers { NEVER_CALLED, ONE, SEVERAL };

static bool row_has_name(const struct jprof_view *view, uint32_t row)
{
	return view->rows[row].source > JPROF_SOURCE_FDE;
}

/* By place: whether one of its frames has no name. NULL when memory is short. */
static bool *find_nameless_places(const struct jprof_view *view)
{
	bool *nameless = calloc((size_t)view->code.location_count + 1, sizeof *nameless);
	for (uint32_t place = 0; nameless && place < view->code.location_count; place++) {
		const struct jp_view_stack alone = { .places = &place, .depth = 1 };
		uint32_t count, first = jp_place_frames(view, &alone, 0, &count);
		for (uint32_t f = first; f < first + count && !nameless[place]; f++) {
			uint32_t row = jp_row_of_frame(view, f);
			nameless[place] = row < view->row_count && !row_has_name(view, row);
		}
	}
	return nameless;
}

/* The row that called the one at `i`, recursion aside; JP_NONE: it is the outermost. */
static uint32_t calling_row(const struct jp_walk *w, uint32_t i)
{
	uint32_t row = w->rows[i];
	while (i < w->length && w->rows[i] == row)
		i++;
	return i < w->length ? w->rows[i] : JP_NONE;
}

static bool has_nameless_place(const struct jp_view_stack *stack, const bool *nameless)
{
	uint32_t i = 0;
	while (i < stack->depth && !nameless[stack->places[i]])
		i++;
	return i < stack->depth;
}

/* `callers` and `caller` are of view->row_count, the first all zero. 0, or -1 when memory is
 * short. */
static int find_in_stacks(const struct jprof_view *view, unsigned char *callers, uint32_t *caller)
{
	struct jp_walk walk;
	bool *nameless = find_nameless_places(view);
	int rc = jp_walk_init(&walk, view) || !nameless ? -1 : 0;
	for (uint32_t i = 0; !rc && i < view->stack_count; i++) {
		if (!has_nameless_place(&view->stacks[i], nameless))
			continue;
		jp_walk_rows(&walk, i);
		for (uint32_t j = 0; j < walk.length; j++) {
			uint32_t row = walk.rows[j], by;
			if (row_has_name(walk.view, row) || callers[row] == SEVERAL)
				continue;
			by = calling_row(&walk, j);
			callers[row] =
			    by != JP_NONE && (callers[row] == NEVER_CALLED || caller[row] == by) ? ONE : SEVERAL;
			caller[row] = by;
		}
	}
	jp_walk_release(&walk);
	free(nameless);
	return rc;
}

const char **jp_sole_callers(const struct jprof_view *view)
{
	bool named = view->info.granularity != JPROF_BY_FILE && !jp_rows_by_path(view->info.granularity);
	unsigned char *callers = calloc((size_t)view->row_count + 1, 1);
	uint32_t *caller = jp_none_array(view->row_count);
	const char **names = calloc((size_t)view->row_count + 1, sizeof *names);
	int rc = callers && caller && names ? 0 : -1;
	if (!rc && named && !(rc = find_in_stacks(view, callers, caller)))
		for (uint32_t i = 0; i < view->row_count; i++)
			if (callers[i] == ONE && row_has_name(view, caller[i]))
				names[i] = view->rows[caller[i]].name;
	free(callers);
	free(caller);
	if (!rc)
		return names;
	free(names);
	return NULL;
}
