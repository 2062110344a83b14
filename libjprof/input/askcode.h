/* What is known of addresses in the code of an object file, for who shows that code. */
#pragma once

#include "input/asknames.h"

/* Strings live as long as the arena. */
struct jp_code_place {
	uint64_t start, end; /* bounds of the function: of its symbol, else of its description in .eh_frame; 0, 0: not
	                        known */
	const char *name;    /* of the function, as the linker or DWARF knows it; NULL: not known, as the next two */
	const char *file;    /* where the innermost function there is, */
	const char *inlined; /* ... and its name in short, if that was inlined */
	unsigned line;       /* 0: not known */
};

/* Fills places[i] for the image address vaddrs[i]; these ascend. 0, also where nothing was found, with err->text saying
 * why if a question was not answered; -1 when memory is short. */
int jp_ask_code(struct jp_objfile *file, const struct jp_debug_where *where, const uint64_t *vaddrs, size_t count,
                struct jp_arena *arena, struct jp_code_place *places, struct jprof_error *err) jp_must_check;
