#include "input/armcode.h"

#include <stdbool.h>

#include "base/reader.h"

/* What a call leaves undefined: x0 to x18, and the link register. */
enum { call_clobbers = 0x4007ffff };

void jp_arm_clear(unsigned char code[static 4], uint32_t mask)
{
	uint32_t word = jp_little_word(code) & ~mask;
	for (unsigned i = 0; i < 4; i++)
		code[i] = (unsigned char)(word >> 8 * i);
}

/* The distance in the bits [low, low+size), in units of 4 bytes. */
static uint64_t distance(uint32_t word, unsigned low, unsigned size)
{
	uint64_t top = (uint64_t)word << (64 - low - size);
	return (uint64_t)((int64_t)top >> (64 - size)) * 4;
}

static uint32_t bits(unsigned low, unsigned size)
{
	return ((UINT32_C(1) << size) - 1) << low;
}

static bool read_branch(uint32_t word, uint64_t vaddr, struct jp_arm_insn *insn)
{
	unsigned low = 5, size;
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		low = 0;
		size = 26;
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) { /* b.cond, cbz */
		size = 19;
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz */
		size = 14;
	} else
		return false;
	*insn = (struct jp_arm_insn){ JP_ARM_BRANCH, bits(low, size), vaddr + distance(word, low, size) };
	return true;
}

/* adr and adrp: 21 bits in two parts, in bytes or pages. */
static void read_adr(uint32_t word, uint64_t vaddr, struct jp_arm_pages *pages, struct jp_arm_insn *insn)
{
	unsigned into = word & 31;
	uint64_t value = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
	value = (uint64_t)((int64_t)(value << 43) >> 43);
	*insn = (struct jp_arm_insn){ JP_ARM_DATA, bits(5, 19) | bits(29, 2), vaddr + value };
	pages->known &= ~(UINT32_C(1) << into);
	if (!(word >> 31))
		return;
	insn->kind = JP_ARM_PAGE;
	insn->target = (vaddr & ~UINT64_C(0xfff)) + (value << 12);
	pages->known |= UINT32_C(1) << into;
	pages->page[into] = insn->target;
}

/* add, or a load or store of an unsigned offset, whose base holds a page. */
static bool read_low_half(uint32_t word, const struct jp_arm_pages *pages, struct jp_arm_insn *insn)
{
	unsigned base = word >> 5 & 31, shift = 0;
	bool add = (word & 0xffc00000) == 0x91000000, access = (word & 0x3b000000) == 0x39000000;
	if ((!add && !access) || !(pages->known >> base & 1))
		return false;
	if (access) /* of 1 to 16 bytes; those of 16 are vectors whose size says 0 */
		shift = (word >> 30) + ((word & 0x04800000) == 0x04800000 && !(word >> 30) ? 4 : 0);
	*insn = (struct jp_arm_insn){ JP_ARM_DATA, bits(10, 12),
		                      pages->page[base] + ((uint64_t)(word >> 10 & 0xfff) << shift) };
	return true;
}

/* The register in the lowest bits is taken for what an instruction writes. Where that is wrong a page is forgotten too
 * early, and content is kept that the linker decides: then a function is not recognized, but never taken for another.
 */
static void forget_written(uint32_t word, struct jp_arm_pages *pages)
{
	bool store = (word & 0x3b400000) == 0x39000000;
	if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000)
		pages->known &= ~(uint32_t)call_clobbers;
	else if (!store)
		pages->known &= ~(UINT32_C(1) << (word & 31));
}

struct jp_arm_insn jp_arm_read(const unsigned char code[static 4], uint64_t vaddr, struct jp_arm_pages *pages)
{
	struct jp_arm_insn insn = { 0 };
	uint32_t word = jp_little_word(code);
	if ((word & 0x1f000000) == 0x10000000) {
		read_adr(word, vaddr, pages, &insn);
		return insn;
	}
	if ((word & 0x3b000000) == 0x18000000)
		insn = (struct jp_arm_insn){ JP_ARM_DATA, bits(5, 19), vaddr + distance(word, 5, 19) };
	else if (!read_branch(word, vaddr, &insn))
		read_low_half(word, pages, &insn);
	if (insn.kind != JP_ARM_BRANCH || word >> 26 == 0x25)
		forget_written(word, pages);
	return insn;
}
