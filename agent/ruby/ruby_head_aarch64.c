#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ruby/ruby_vm.h"

static uint32_t word_at(const unsigned char *code, int i)
{
	uint32_t word;
	memcpy(&word, code + 4 * i, sizeof word);
	return word;
}

/* cbz x0, N; ldr x0, [x0, N] with N > 0: the pointer to the VM is in x0. */
static bool uses_pointer(uint32_t word)
{
	return (word & 0xff00001f) == 0xb4000000 || ((word & 0xffc003ff) == 0xf9400000 && word != 0xf9400000);
}

/* adrp x0, N: pages of 4 KiB, 21 bits with a sign in two parts. */
static uintptr_t page_of(const unsigned char *code, uint32_t word)
{
	uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), sign = 1 << 20;
	return ((uintptr_t)code & ~(uintptr_t)0xfff) + (uintptr_t)(((pages ^ sign) - sign) << 12);
}

/* After a bti c, perhaps: adrp x0; then one of
 *     ldr x0, [x0, N]; ldr x0, [x0]      the variable's address out of the table of addresses (GOT), then its value
 *     add x0, x0, N; ldr x0, [x0]        its address, then its value
 *     ldr x0, [x0, N]                    its value
 * and then the use of it. */
void *const *ruby_head_variable(const void *function)
{
	const uint32_t bti_c = 0xd503245f, adrp = 0x90000000, adrp_mask = 0x9f00001f;
	const uint32_t load_x0 = 0xf9400000, add_x0 = 0x91000000, offset_mask = 0xffc003ff;
	const unsigned char *code = function;
	if (word_at(code, 0) == bti_c)
		code += 4;
	uint32_t second = word_at(code, 1), offset = second >> 10 & 0xfff;
	if ((word_at(code, 0) & adrp_mask) != adrp)
		return NULL;
	uintptr_t page = page_of(code, word_at(code, 0));
	bool again = word_at(code, 2) == load_x0 && uses_pointer(word_at(code, 3));
	if ((second & offset_mask) == add_x0)
		return again ? (void *const *)(page + offset) : NULL;
	void *const *place = (void *const *)(page + 8 * (uintptr_t)offset);
	if ((second & offset_mask) != load_x0)
		return NULL;
	return again ? *place : uses_pointer(word_at(code, 2)) ? place : NULL;
}
