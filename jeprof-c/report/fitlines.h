/* Reports of more than a table, --peek, --traces, --tree and --list, on the lines of a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "jprof.h"

struct fitlines {
	jprof_write_fn *write; /* where lines that fit go */
	void *context;         /* of `write` */
	unsigned columns;      /* of the terminal */
	char *line;            /* what came of a line that has not ended */
	size_t len, cap;
};

/* A jprof_write_fn; `fitlines` is a struct fitlines. Of a line that is too long the numbers stay, and the name loses
 * its middle, as in the table; sentences and source lines go on below at a word. */
int fitlines_write(void *fitlines, const void *data, size_t len);

/* Writes what is left, and frees the line. False if `write` failed or memory is short. */
bool fitlines_end(struct fitlines *fitlines);
