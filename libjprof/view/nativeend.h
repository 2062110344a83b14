/* Where the native part of a stack that goes on in Ruby ends, by names: for dumps whose agent had not learned the
 * interpreter's functions, so that their native stacks go on through it. */
#pragma once

#include "model/code.h"
#include "model/profile.h"

struct jp_native_end {
	const struct jp_code *code;
	bool *interpreter; /* by location: its function runs Ruby */
};

/* 0, or -1 when memory is short; to be released in either case. */
int jp_native_end_init(struct jp_native_end *end, const struct jp_code *code) jp_must_check;
void jp_native_end_release(struct jp_native_end *end);

/* How many of the first `native` places, innermost first, come before the interpreter; all of them where no name tells.
 */
uint32_t jp_native_end(const struct jp_native_end *end, const uint32_t *places, uint32_t native);
