/* Lines of Ruby that moved between two builds of an application: their rows are matched by path and method. */
#pragma once

#include "answers/seriestypes.h"

struct jprof_view;

/* Looks at the whole difference of processes of which none is the same: where the lines of a method on the one side are
 * all others than those on the other, they may have moved, and its rows get the name of the line that has most at the
 * end. All such methods together need ten samples on each side; the rows of other methods keep their own names. 0, or
 * -1 when memory is short. */
int jp_find_moved_lines(struct jp_series_rows *rows, const struct jprof_view *view) jp_must_check;

/* The name of a view's row in the series: its own where lines did not move. NULL when memory is short. */
const char *jp_name_in_series(const struct jp_series_rows *rows, const struct jprof_row *row);
