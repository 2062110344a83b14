/* Stacks of rows as one tree of calls, from the roots on, with recursion taken out. */
#pragma once

#include <stdbool.h>

#include "base/index.h"

struct jp_call {
	uint32_t row;
	uint32_t parent; /* node; 0 is the root, which is no call */
};

/* Zero bytes are none, and ready for use. */
struct jp_calls {
	struct jp_call *nodes; /* by id, from 1 on in the order of first sight: parents before those that they call */
	uint32_t count;        /* of ids given out */
	size_t cap;
	/* Of the stack that was added last, outermost first: its nodes, and whether recursion was taken out there. */
	uint32_t *path;
	bool *loops;
	size_t path_cap, loop_cap;
	/* Behind it: what is left of a stack so far is a place. Which one a row leads to holds for each stack. */
	struct jp_call_place *places;
	uint32_t place_count, step_count;
	struct jp_pairs steps; /* (place, row) */
	uint32_t *to;          /* by step: a place */
	size_t place_cap, to_cap;
};

/* Adds a stack of rows, innermost first. What repeats itself is taken out: of f f f one f stays, of f g f g one f g,
 * for loops of up to 16 rows. *depth: how many nodes are left. 0, or -1 when memory is short. */
int jp_calls_add(struct jp_calls *calls, const uint32_t *rows, size_t count, size_t *depth) jp_must_check;
void jp_calls_release(struct jp_calls *calls);
