/* By site: for each row of a gem the line of the application from which most of its memory came. */
#pragma once

#include "view/view.h"

/* Fills in `from` of the rows, which have their values. 0, or -1 when memory is short. */
int jp_find_callers(struct jprof_view *view, const char *trim) jp_must_check;
