/* One machine instruction, as far as it matters to who follows values from register to register. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JP_REGISTERS = 32, JP_NO_REGISTER = 255 };

enum jp_insn_kind {
	JP_INSN_OTHER,    /* no more than `kills` */
	JP_INSN_PADDING,  /* nothing at all */
	JP_INSN_CONSTANT, /* dst = value */
	JP_INSN_ADDRESS,  /* dst = value, an address in the image */
	JP_INSN_ADD,      /* dst = base + disp */
	JP_INSN_LOAD,     /* dst = memory, 8 bytes; dst2 = the 8 bytes behind */
	JP_INSN_STORE,    /* memory = src, 8 bytes; the 8 bytes behind = src2 */
	JP_INSN_SMUDGE,   /* `width` bytes of memory change to what is not known */
	JP_INSN_CALL,     /* to value */
	JP_INSN_CALL_TO,  /* to what register src holds */
	JP_INSN_CALL_BY,  /* to what memory holds */
	JP_INSN_JUMP,     /* these three likewise */
	JP_INSN_JUMP_TO,
	JP_INSN_JUMP_BY,
	JP_INSN_BRANCH, /* to value, or on */
	JP_INSN_END,    /* a return or a trap: nothing comes after it */
};

/* Memory is at `value` where `absolute`, else at base + disp; without a base nobody knows. What it does comes first,
 * then `kills` (a bit for each register that holds nothing known any more), then base += adjust. */
struct jp_insn {
	enum jp_insn_kind kind;
	bool absolute;
	unsigned char len;
	unsigned char dst, dst2, src, src2, base; /* JP_NO_REGISTER: none */
	unsigned width;
	int64_t disp, adjust;
	uint64_t value;
	uint64_t kills;
};
