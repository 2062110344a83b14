/* What is known wherever a function calls another: every way that leads there is followed, and only that holds which
 * holds on all of them. */
#pragma once

#include "machine/follow.h"
#include "machine/references.h"

/* A call under way, also one that never comes back (a jump to another function). */
struct jp_call {
	uint64_t at;            /* the instruction */
	struct jp_value target; /* JP_VALUE_ADDRESS, JP_VALUE_SYMBOL, or not known */
	struct jp_value arguments[6];
};

struct jp_flow {
	const struct jp_image *image;
	const struct jp_calling *calling;
	const struct jp_memory *memory; /* its `store` is called once for each store, when all is known */
	/* Places that code of other functions jumps to, ascending: there nothing is known. */
	const uint64_t *entries;
	size_t entry_count;
	struct jp_value arguments[6]; /* what the function is called with, as far as it is known */
	void *context;
	/* What the call returns. Called more than once for a call; `final` the last time. */
	struct jp_value (*call)(void *context, const struct jp_call *call, bool final);
};

/* Follows one function; of one that is too large or too twisted nothing is reported. 0, or -1 when memory is short. */
int jp_flow_function(const struct jp_flow *flow, const struct jp_function_bounds *function);
