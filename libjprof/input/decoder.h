/* Machine code as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "jprof.h"

struct jp_decoder;

enum { jp_longest_instruction = 15 };

struct jp_decoded {
	uint64_t target; /* of a call or jump whose only operand is an address; else 0 */
	unsigned size;
	char text[192];
};

/* A decoder for ELF's e_machine. JPROF_E_UNSUPPORTED, with a sentence, where there is none. It loads what decodes, and
 * calls nothing of it: that dies where memory is short, and its code is anybody's. */
int jp_decoder_new(int machine, struct jp_decoder **decoder, struct jprof_error *err);

/* Decodes the instruction at the front of `len` bytes of code, at least 1. What is none is ".byte 0xNN". 0, or -1 when
 * memory is short. */
int jp_decode(struct jp_decoder *decoder, const unsigned char *code, size_t len, uint64_t vaddr,
              struct jp_decoded *decoded) jp_must_check;

void jp_decoder_free(struct jp_decoder *decoder);
