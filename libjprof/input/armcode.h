/* Where AArch64 instructions refer to places by their distance. Instructions have 4 bytes, little-endian. By Arm's
 * Architecture Reference Manual, chapter C4. */
#pragma once

#include <stdint.h>

enum jp_arm_kind {
	JP_ARM_OTHER,
	JP_ARM_BRANCH, /* b, bl, b.cond, cbz, tbz */
	JP_ARM_DATA,   /* adr, a literal load, or the lower half of what adrp began */
	JP_ARM_PAGE,   /* adrp: what it refers to the next one completes */
};

struct jp_arm_insn {
	enum jp_arm_kind kind;
	uint32_t mask; /* bits of the instruction that say where; 0: it refers to nothing */
	uint64_t target;
};

/* Which registers hold a page that adrp put there. All zero before a function's first instruction. */
struct jp_arm_pages {
	uint32_t known; /* a bit for each register */
	uint64_t page[32];
};

/* Reads the instruction at `code`, whose address is `vaddr`; those of a function in their order. */
struct jp_arm_insn jp_arm_read(const unsigned char code[static 4], uint64_t vaddr, struct jp_arm_pages *pages);

/* Sets these bits of an instruction to zero. */
void jp_arm_clear(unsigned char code[static 4], uint32_t mask);
