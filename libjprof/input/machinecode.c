#include "input/machinecode.h"

#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "input/armcode.h"
#include "machine/x86code.h"

/* A function that is being read. */
struct splitting {
	unsigned char *code;
	size_t len;
	uint64_t vaddr;
	struct jp_code_refs *refs;
};

/* Whether that is a place in the function's own code. */
static bool leads_inside(const struct splitting *s, uint64_t target)
{
	return target - s->vaddr < s->len;
}

static int add_ref(struct splitting *s, size_t at, bool branch, uint64_t target)
{
	struct jp_code_refs *refs = s->refs;
	if (jp_array_push(refs->items, refs->count, refs->cap))
		return -1;
	refs->items[refs->count++] = (struct jp_code_ref){ (uint32_t)at, branch, target };
	return 0;
}

static int split_x86(struct splitting *s)
{
	struct jp_x86_insn insn;
	for (size_t at = 0; at < s->len; at += insn.length) {
		int32_t distance;
		if (!jp_x86_read(s->code + at, s->len - at, &insn))
			return 0;
		if (!insn.distance)
			continue;
		memcpy(&distance, s->code + at + insn.distance, sizeof distance);
		uint64_t target = s->vaddr + at + insn.length + (uint64_t)(int64_t)distance;
		if (insn.branch && leads_inside(s, target))
			continue;
		memset(s->code + at + insn.distance, 0, sizeof distance);
		if (add_ref(s, at, insn.branch, target))
			return -1;
	}
	return 1;
}

static int split_arm(struct splitting *s)
{
	struct jp_arm_pages pages = { 0 };
	if (s->len % 4 || s->vaddr % 4)
		return 0;
	for (size_t at = 0; at < s->len; at += 4) {
		struct jp_arm_insn insn = jp_arm_read(s->code + at, s->vaddr + at, &pages);
		if (!insn.mask || (insn.kind == JP_ARM_BRANCH && leads_inside(s, insn.target)))
			continue;
		jp_arm_clear(s->code + at, insn.mask);
		if (insn.kind != JP_ARM_PAGE && add_ref(s, at, insn.kind == JP_ARM_BRANCH, insn.target))
			return -1;
	}
	return 1;
}

int jp_machinecode_split(unsigned machine, unsigned char *code, size_t len, uint64_t vaddr, struct jp_code_refs *refs)
{
	struct splitting s = { code, len, vaddr, refs };
	refs->count = 0;
	switch (machine) {
	case EM_X86_64: return split_x86(&s);
	case EM_AARCH64: return split_arm(&s);
	default: return 0;
	}
}
