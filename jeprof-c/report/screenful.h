/* A table on a terminal: what stands over and under it, and how many rows fit between. */
#pragma once

#include "cli/sink.h"
#include "report/load.h"

struct screenful {
	char *over;  /* lines over the table */
	char *under; /* and under it */
	size_t top;  /* rows that fit between; 0: all */
};

/* Lays out what is seen of a view: in an equal part of the terminal's height if there are several `parts`, and with
 * `outside` (or "") below the table. False, with a message, when memory is short. */
bool screenful_plan(struct screenful *screenful, const struct loaded *loaded, const struct jprof_view *view,
                    const struct options *options, const struct inputs *inputs, size_t parts, const char *outside);

void screenful_release(struct screenful *screenful);
