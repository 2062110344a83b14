/* The format of x86-64 instructions. By Intel's manual, volume 2, chapter 2 (format) and appendix A: maps of opcodes,
 * each with what follows it. What they do machine/insn_x86.h says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jp_x86_insn {
	unsigned length;
	unsigned distance; /* where 4 bytes of a distance from the end of the instruction begin; 0: there are none */
	bool branch;       /* that of a call or a jump; else of an operand in memory */

	bool narrow, repeat, segment, small; /* prefixes: 66, F2 or F3, 64 or 65, 67 */
	bool vex, evex;
	unsigned rex;  /* REX, or the same bits of VEX; 0: none. Not of EVEX */
	unsigned vvvv; /* of VEX: one more register */
	unsigned map;  /* 1 one byte, 2 behind 0F, 3 behind 0F 38, 4 behind 0F 3A; more are of VEX and EVEX alone */
	unsigned opcode;

	bool has_modrm;
	unsigned mod, reg, rm; /* of ModRM, REX included */
	/* Of an operand in memory. */
	unsigned base; /* a register; JP_X86_NO_BASE: there is none */
	bool index;    /* and another */
	bool absolute; /* only `disp`, ... */
	bool relative; /* ... from the end of the instruction */
	int64_t disp;
	int64_t immediate; /* of a branch the distance */
};

enum { JP_X86_NO_BASE = 255, JP_X86_WIDE = 8 /* of rex: 64 bits */ };

/* Reads one instruction of 64-bit mode. False where there is none, or where it does not end within `len` bytes. */
bool jp_x86_read(const unsigned char *code, size_t len, struct jp_x86_insn *insn);
