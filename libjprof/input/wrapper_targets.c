#include "input/wrapper_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "input/callsite.h"
#include "input/ehframe.h"
#include "input/symtab.h"

enum { longest_wrapper = 4096 };

/* The target of a call or jump at `code`, whose own address is `vaddr`; 0 if there is none. */
static uint64_t branch_target(int machine, const unsigned char *code, size_t room, uint64_t vaddr)
{
	if (machine == EM_X86_64 && room >= 5 && (*code == 0xe8 || *code == 0xe9)) {
		int32_t distance;
		memcpy(&distance, code + 1, sizeof distance);
		return vaddr + 5 + (uint64_t)(int64_t)distance;
	}
	if (machine == EM_AARCH64 && room >= 4 && vaddr % 4 == 0) {
		uint32_t insn;
		memcpy(&insn, code, sizeof insn);
		if ((insn & 0x7c000000) == 0x14000000)
			return vaddr + (uint64_t)((int64_t)((uint64_t)insn << 38) >> 36);
	}
	return 0;
}

static bool is_nameless_function(const struct jp_objnames *names, uint64_t vaddr)
{
	uint64_t start, end;
	return jp_ehframe_find(names->ehframe, vaddr, &start, &end) && start == vaddr &&
	       !jp_symtab_find(names->symtab, vaddr, start, end);
}

struct targets {
	uint64_t *items;
	size_t count, cap;
};

static int scan_wrapper(const struct jp_objnames *names, const struct jp_symbol *symbol, struct targets *targets)
{
	unsigned char code[longest_wrapper];
	size_t size = symbol->size < sizeof code ? (size_t)symbol->size : sizeof code;
	int machine = jp_machine_of(names->object.object);
	if (!jp_read_code(names->object.object, symbol->value, code, size))
		return 0;
	for (size_t i = 0; i < size; i++) {
		uint64_t target = branch_target(machine, code + i, size - i, symbol->value + i);
		if (!target || !is_nameless_function(names, target))
			continue;
		if (jp_array_push(targets->items, targets->count, targets->cap))
			return -1;
		targets->items[targets->count++] = target;
	}
	return 0;
}

int jp_wrapper_targets(const struct jp_objnames *names, const struct jp_name_request *request, uint64_t **items,
                       size_t *count)
{
	struct targets targets = { 0 };
	const struct jp_symbol *symbol;
	int rc = 0;
	for (size_t i = 0; !rc && (symbol = jp_symtab_at(names->symtab, i)); i++)
		if (symbol->source == JPROF_SOURCE_DYNSYM && request->is_wrapper(request->wrappers, symbol->name))
			rc = scan_wrapper(names, symbol, &targets);
	if (targets.count)
		qsort(targets.items, targets.count, sizeof *targets.items, jp_by_first);
	*items = targets.items;
	*count = targets.count;
	return rc;
}

bool jp_is_target(const uint64_t *targets, size_t count, uint64_t vaddr)
{
	return count && bsearch(&vaddr, targets, count, sizeof vaddr, jp_by_first);
}
