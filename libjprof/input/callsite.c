#include "input/callsite.h"

#include "machine/calling.h"

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

/* Whether these bytes, all of them, are one call. */
static bool is_one_call(const struct jp_calling *calling, const unsigned char *code, size_t len)
{
	struct jp_insn insn;
	return calling->decode(code, len, 0, &insn) && insn.len == len && insn.kind >= JP_INSN_CALL &&
	       insn.kind <= JP_INSN_CALL_BY;
}

enum jp_callsite jp_callsite_check(const struct jp_objfile *file, uint64_t vaddr)
{
	unsigned char code[longest_call];
	const struct jp_calling *calling = jp_calling_of(file->headers.machine);
	size_t least = file->headers.machine == EM_AARCH64 ? 4 : 2, have = least == 4 ? 4 : longest_call;
	while (have >= least && (vaddr < have || !jp_read_code(file, vaddr - have, code + longest_call - have, have)))
		have--;
	if (!calling || have < least)
		return JP_CALLSITE_UNKNOWN;
	for (size_t len = least; len <= have; len++)
		if (is_one_call(calling, code + longest_call - len, len))
			return JP_CALLSITE_CALL;
	return JP_CALLSITE_OTHER;
}
