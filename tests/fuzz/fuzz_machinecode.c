/* Target: machine code of x86-64 and AArch64, the first byte's parity says of which. Asserts that references come in
 * order and begin inside of the code, that bits are cleared and none is set, and that what was split has no more
 * references than before. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "input/machinecode.h"

enum { longest = 1 << 14, vaddr = 0x10000 };

static void check_split(const uint8_t *code, const unsigned char *split, size_t len, const struct jp_code_refs *refs)
{
	for (size_t i = 0; i < len; i++)
		must((split[i] & ~code[i]) == 0); /* bits are cleared, never set */
	for (size_t i = 0; i < refs->count; i++) {
		must(refs->items[i].at < len);
		must(!i || refs->items[i - 1].at < refs->items[i].at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_code_refs refs = { 0 };
	unsigned char split[longest], again[longest];
	if (!size || size - 1 > longest)
		return 0;
	size_t len = size - 1;
	unsigned machine = *data % 2 ? EM_AARCH64 : EM_X86_64;
	memcpy(split, data + 1, len);
	int rc = jp_machinecode_split(machine, split, len, vaddr, &refs);
	must(rc >= 0);
	if (rc) {
		size_t count = refs.count;
		check_split(data + 1, split, len, &refs);
		memcpy(again, split, len);
		must(jp_machinecode_split(machine, again, len, vaddr, &refs) == 1);
		must(refs.count <= count);
	}
	free(refs.items);
	return 0;
}
