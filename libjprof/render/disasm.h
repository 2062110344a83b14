/* Machine code as text. */
#ifndef JP_RENDER_DISASM_H
#define JP_RENDER_DISASM_H

#include <stddef.h>
#include <stdint.h>

#include "jprof.h"

struct jp_decoder;

struct jp_instruction {
	uint64_t vaddr;
	uint64_t target; /* of a call or jump whose only operand is an address; else 0 */
	unsigned size;
	char text[192];
};

/* A decoder for ELF's e_machine. JPROF_E_UNSUPPORTED, with a sentence, where there is none. */
int jp_decoder_new(int machine, struct jp_decoder **decoder, struct jprof_error *err);

/* Decodes the instruction at the front of `len` bytes of code, at least 1. What is none is ".byte 0xNN". */
void jp_decode(struct jp_decoder *decoder, const unsigned char *code, size_t len, uint64_t vaddr,
               struct jp_instruction *instruction);

void jp_decoder_free(struct jp_decoder *decoder);

#endif
