#include "machine/calling.h"

#include <elf.h>

#include "machine/insn_arm.h"
#include "machine/insn_x86.h"

/* System V ABI, AMD64 supplement: rdi, rsi, rdx, rcx, r8, r9; a call keeps rbx, rsp, rbp and r12 to r15. */
static const struct jp_calling x86 = { .decode = jp_insn_x86,
	                               .arguments = { 7, 6, 2, 1, 8, 9 },
	                               .result = 0,
	                               .stack = 4,
	                               .frame = 5,
	                               .kept = 1 << 3 | 1 << 4 | 1 << 5 | 0xf << 12 };

/* Procedure Call Standard for the Arm 64-bit Architecture: x0 to x5; a call keeps x19 to x29 and sp. */
static const struct jp_calling arm = { .decode = jp_insn_arm,
	                               .arguments = { 0, 1, 2, 3, 4, 5 },
	                               .result = 0,
	                               .stack = 31,
	                               .frame = 29,
	                               .kept = UINT64_C(0x7ff) << 19 | UINT64_C(1) << 31 };

const struct jp_calling *jp_calling_of(unsigned machine)
{
	return machine == EM_X86_64 ? &x86 : machine == EM_AARCH64 ? &arm : NULL;
}
