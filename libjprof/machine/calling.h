/* How functions of a machine call each other. */
#pragma once

#include "machine/insn.h"

/* What calls do with registers. */
struct jp_calling {
	/* Decodes the instruction at `code`, of which there are `room` bytes, at least one, and whose address is `at`.
	 * False: not known here, or cut off. */
	bool (*decode)(const unsigned char *code, size_t room, uint64_t at, struct jp_insn *insn);
	unsigned char arguments[6];
	unsigned char result;
	unsigned char stack; /* the stack pointer */
	unsigned char frame; /* the frame pointer, where there is one */
	uint64_t kept;       /* a bit for each register that a call leaves as it is */
};

/* Those of e_machine; NULL: none is known. */
const struct jp_calling *jp_calling_of(unsigned machine);
