/* Who called what has no name. */
#ifndef JP_VIEW_CALLERS_H
#define JP_VIEW_CALLERS_H

#include "view/view.h"

/* For each row whose only name is its address in a file: the row that called it in all of its stacks, if that is one,
 * and has a name; JP_NONE for all others. By row, of view->row_count; to be freed. NULL when memory is short. */
uint32_t *jp_sole_callers(const struct jprof_view *view);

/* The name of that caller of one of the view's rows; NULL: none. */
static inline const char *jp_sole_caller(const struct jprof_view *view, const uint32_t *callers,
                                         const struct jprof_row *row)
{
	uint32_t caller = callers[row - view->rows];
	return caller == JP_NONE ? NULL : view->rows[caller].name;
}

#endif
