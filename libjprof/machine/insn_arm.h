/* Instructions of AArch64. Source: Arm Architecture Reference Manual for A-profile, chapter C4 (encoding index). */
#pragma once

#include "machine/insn.h"

/* See `decode` of machine/calling.h; x0 to x30 are 0 to 30, sp is 31, xzr is no register. Not known: SVE and SME. */
bool jp_insn_arm(const unsigned char *code, size_t room, uint64_t at, struct jp_insn *insn);
