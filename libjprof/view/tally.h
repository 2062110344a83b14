/* The values of a view's rows, and where they lie. */
#pragma once

#include "view/view.h"

/* The name of a row. */
typedef const char *jp_row_name_fn(const void *context, uint32_t row);

/* Makes view->rows and all sums out of the stacks. 0, or -1 when memory is short. */
int jp_view_tally(struct jprof_view *view, jp_row_name_fn *name, const void *context) jp_must_check;
