/* Machine code as text, decoded by who finds names: what decodes dies where memory is short, and reads code of
 * anybody's. */
#pragma once

#include "base/arena.h"
#include "input/namerequest.h"
#include "input/objfile.h"

struct jp_instruction {
	uint64_t vaddr;
	uint64_t target; /* of a call or jump whose only operand is an address; else 0 */
	unsigned size;
	const char *text; /* of the arena */
};

struct jp_instructions {
	struct jp_instruction *items; /* to be freed by the caller */
	size_t count, cap;
};

/* Adds the instructions of the code at image addresses [start, end); none where the file has no such bytes. `finder`
 * (NULL: this process) decodes. JPROF_E_NOMEM; JPROF_E_UNSUPPORTED: the machine is none that is known, there is
 * no decoder, or err->text says what became of who decodes. */
int jp_ask_decoded(const struct jp_objfile *file, const struct jprof_name_finder *finder, uint64_t start, uint64_t end,
                   struct jp_arena *arena, struct jp_instructions *instructions, struct jprof_error *err) jp_must_check;

/* The finder's side: adds to `out` the instructions from the request's first offset to its second one, as far as they
 * go into one answer: size (a byte), target (8, little-endian), and the text with its NUL. JPROF_E_NOMEM; JPROF_E_IO:
 * the file cannot be read; JPROF_E_UNSUPPORTED: no decoder is loaded. */
int jp_decode_answer(const struct jp_name_request *request, struct jp_strbuf *out) jp_must_check;
