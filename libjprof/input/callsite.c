#include "input/callsite.h"

enum { longest_call = 8 };

int jp_machine_of(const struct jp_objfile *file)
{
	return (int)file->headers.machine;
}

bool jp_read_code(const struct jp_objfile *file, uint64_t vaddr, unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < file->headers.section_count; i++) {
		const struct jp_elf_section *s = &file->headers.sections[i];
		if (!(s->flags & SHF_EXECINSTR) || s->type == SHT_NOBITS)
			continue;
		if (vaddr < s->address || vaddr - s->address > s->size || len > s->size - (vaddr - s->address))
			continue;
		return s->offset <= INT64_MAX && jp_elf_read_at(file->fd, s->offset + (vaddr - s->address), bytes, len);
	}
	return false;
}

/* ---- x86-64: Intel SDM volume 2, CALL: E8 rel32, or FF /2 with a ModRM operand ---------------- */

static size_t modrm_length(const unsigned char *modrm, size_t room)
{
	unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
	size_t length = 1;
	if (mod == 3)
		return length;
	if (rm == 4) {
		if (room < 2)
			return 0;
		length++;
		if (mod == 0 && (modrm[1] & 7) == 5)
			length += 4;
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool is_prefix(unsigned char byte)
{
	return (byte & 0xf0) == 0x40 || byte == 0x3e || byte == 0x67 || byte == 0x66 || byte == 0xf2;
}

/* Whether these bytes, all of them, are one call. */
static bool x86_is_call(const unsigned char *code, size_t len)
{
	while (len > 2 && is_prefix(*code)) {
		code++;
		len--;
	}
	if (*code == 0xe8)
		return len == 5;
	return *code == 0xff && len >= 2 && (code[1] >> 3 & 7) == 2 && modrm_length(code + 1, len - 1) == len - 1;
}

static enum jp_callsite x86_check(const struct jp_objfile *file, uint64_t vaddr)
{
	unsigned char code[longest_call];
	size_t have = longest_call;
	while (have >= 2 && (vaddr < have || !jp_read_code(file, vaddr - have, code + longest_call - have, have)))
		have--;
	if (have < 2)
		return JP_CALLSITE_UNKNOWN;
	for (size_t len = 2; len <= have; len++)
		if (x86_is_call(code + longest_call - len, len))
			return JP_CALLSITE_CALL;
	return JP_CALLSITE_OTHER;
}

/* ---- AArch64: Arm ARM, BL, BLR, BLRA* ----------------------------------------------------------- */

static enum jp_callsite arm_check(const struct jp_objfile *file, uint64_t vaddr)
{
	unsigned char b[4];
	if (vaddr < sizeof b || !jp_read_code(file, vaddr - sizeof b, b, sizeof b))
		return JP_CALLSITE_UNKNOWN;
	uint32_t insn = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	bool call = (insn & 0xfc000000) == 0x94000000 || (insn & 0xfefff000) == 0xd63f0000;
	return call ? JP_CALLSITE_CALL : JP_CALLSITE_OTHER;
}

enum jp_callsite jp_callsite_check(const struct jp_objfile *file, uint64_t vaddr)
{
	switch (jp_machine_of(file)) {
	case EM_X86_64: return x86_check(file, vaddr);
	case EM_AARCH64: return arm_check(file, vaddr);
	default: return JP_CALLSITE_UNKNOWN;
	}
}
