/* Instructions of x86-64. Source: Intel SDM volume 2, chapter 2 (format) and appendix A (opcode maps). */
#pragma once

#include "machine/insn.h"

/* See `decode` of machine/calling.h; registers have the numbers that ModRM and REX give them. Not known: EVEX, what is
 * invalid in 64-bit mode, privileged instructions. */
bool jp_insn_x86(const unsigned char *code, size_t room, uint64_t at, struct jp_insn *insn);
