/* The length of an x86-64 instruction, and where in it a distance stands. By Intel's manual, volume 2, appendix A: maps
 * of opcodes, each with what follows it. */
#ifndef JP_INPUT_X86CODE_H
#define JP_INPUT_X86CODE_H

#include <stdbool.h>
#include <stddef.h>

struct jp_x86_insn {
	unsigned length;
	unsigned distance; /* where 4 bytes of a distance from the end of the instruction begin; 0: there are none */
	bool branch;       /* that of a call or a jump; else of an operand in memory */
};

/* Reads one instruction of 64-bit mode. False where there is none, or where it does not end within `len` bytes. */
bool jp_x86_read(const unsigned char *code, size_t len, struct jp_x86_insn *insn);

#endif
