/* Who called what has no name. */
#pragma once

#include "view/view.h"

/* For each row whose only name is its address in a file: the name of the row that called it in all of its stacks, if
 * that is one, and has a name. NULL for all others. By row, of view->row_count; to be freed, the names are the view's.
 * NULL when memory is short. */
const char **jp_sole_callers(const struct jprof_view *view);

/* The name of that caller of one of the view's rows; NULL: none. */
static inline const char *jp_sole_caller(const struct jprof_view *view, const char **callers,
                                         const struct jprof_row *row)
{
	return callers[row - view->rows];
}
