/* The shape of a row from the ages of its samples in one dump: docs/internals/statistics.md. */
#pragma once

#include <stddef.h>

#include "jprof.h"

/* The life of a process since its startup, in pieces that follow each other without a gap, the oldest first. */
struct jp_shape_time {
	const double *length; /* of each piece, above 0; any unit */
	size_t count;
};

/* What a row is by its live samples: `startup` of them are from the process's startup or from before its fork, n[i]
 * were allocated in the i-th piece and are alive. `rows` is how many rows are judged beside it (1 or more): of so many
 * one in twenty may be wrong by chance, no more.
 *
 * JPROF_SHAPE_FEW: fewer than ten samples. JPROF_SHAPE_UNKNOWN: fewer than four pieces, or none of the shapes is
 * likelier than all others by 20 * rows. Never JPROF_SHAPE_NONE. Takes time in the square of the number of pieces. */
enum jprof_shape jp_shape_of(const struct jp_shape_time *time, double startup, const double *n, double rows);
