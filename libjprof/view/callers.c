#include "view/callers.h"

#include <stdlib.h>

#include "base/array.h"
#include "view/rows.h"
#include "view/walk.h"

/* What is known of the callers of a row. */
enum callers { NEVER_CALLED, ONE, SEVERAL };

static bool row_has_name(const struct jprof_view *view, uint32_t row)
{
	return view->rows[row].source > JPROF_SOURCE_FDE;
}

/* The row that called the one at `i`, recursion aside; JP_NONE: it is the outermost. */
static uint32_t calling_row(const struct jp_walk *w, uint32_t i)
{
	uint32_t row = w->rows[i];
	while (i < w->length && w->rows[i] == row)
		i++;
	return i < w->length ? w->rows[i] : JP_NONE;
}

static void note_callers(const struct jp_walk *w, unsigned char *callers, uint32_t *caller)
{
	for (uint32_t i = 0; i < w->length; i++) {
		uint32_t row = w->rows[i], by;
		if (row_has_name(w->view, row) || callers[row] == SEVERAL)
			continue;
		by = calling_row(w, i);
		callers[row] = by != JP_NONE && (callers[row] == NEVER_CALLED || caller[row] == by) ? ONE : SEVERAL;
		caller[row] = by;
	}
}

uint32_t *jp_sole_callers(const struct jprof_view *view)
{
	unsigned char *callers = calloc((size_t)view->row_count + 1, 1);
	uint32_t *caller = jp_none_array(view->row_count);
	struct jp_walk walk;
	bool named = view->info.granularity != JPROF_BY_FILE && !jp_rows_by_path(view->info.granularity);
	int rc = jp_walk_init(&walk, view);
	for (uint32_t i = 0; !rc && callers && caller && named && i < view->stack_count; i++) {
		jp_walk_rows(&walk, i);
		note_callers(&walk, callers, caller);
	}
	for (uint32_t i = 0; !rc && callers && caller && i < view->row_count; i++)
		if (callers[i] != ONE || !row_has_name(view, caller[i]))
			caller[i] = JP_NONE;
	jp_walk_release(&walk);
	free(callers);
	if (!rc && callers)
		return caller;
	free(caller);
	return NULL;
}
