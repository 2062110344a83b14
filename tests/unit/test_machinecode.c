/* What of machine code is content. The bytes and their targets are from GNU as and objdump. */
#include <elf.h>

#include "harness.h"
#include "input/machinecode.h"
#include "machine/x86code.h"

enum { at_vaddr = 0x1000 };

/* The code after splitting, and its references, are these. */
static void splits_to(unsigned machine, const void *code, size_t len, const void *content,
                      const struct jp_code_ref *refs, size_t count)
{
	unsigned char *copy = malloc(len);
	struct jp_code_refs found = { 0 };
	memcpy(copy, code, len);
	assert_int_equal(jp_machinecode_split(machine, copy, len, at_vaddr, &found), 1);
	assert_memory_equal(copy, content, len);
	assert_int_equal(found.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found.items[i].at, refs[i].at);
		assert_int_equal(found.items[i].branch, refs[i].branch);
		assert_int_equal(found.items[i].target, refs[i].target);
	}
	free(found.items);
	free(copy);
}

TEST(test_x86)
{
	/* endbr64; lea 0x100(%rip),%rdi; cmpl $0x7,0x200(%rip); call +0x10; je inside; jmp outside; jne .-2; ret */
	static const unsigned char code[] = "\xf3\x0f\x1e\xfa"
					    "\x48\x8d\x3d\x00\x01\x00\x00"
					    "\x83\x3d\x00\x02\x00\x00\x07"
					    "\xe8\x10\x00\x00\x00"
					    "\x0f\x84\x05\x00\x00\x00"
					    "\xe9\x00\x03\x00\x00"
					    "\x75\xfe"
					    "\xc3";
	static const unsigned char content[] = "\xf3\x0f\x1e\xfa"
					       "\x48\x8d\x3d\x00\x00\x00\x00"
					       "\x83\x3d\x00\x00\x00\x00\x07"
					       "\xe8\x00\x00\x00\x00"
					       "\x0f\x84\x05\x00\x00\x00"
					       "\xe9\x00\x00\x00\x00"
					       "\x75\xfe"
					       "\xc3";
	static const struct jp_code_ref refs[] = { { 4, false, 0x100b + 0x100 },
		                                   { 11, false, 0x1012 + 0x200 },
		                                   { 18, true, 0x1017 + 0x10 },
		                                   { 29, true, 0x1022 + 0x300 } };
	splits_to(EM_X86_64, code, sizeof code - 1, content, refs, 4);
}

TEST(test_x86_lengths)
{
	static const struct {
		const char *code;
		unsigned length, distance;
	} insns[] = {
		{ "\x90", 1, 0 },
		{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, 0 }, /* movabs */
		{ "\x66\xc7\x44\x24\x08\x34\x12", 7, 0 },              /* movw $0x1234,8(%rsp) */
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, 0 }, /* a long nop */
		{ "\xf6\x05\x00\x00\x00\x00\x01", 7, 2 },              /* testb $1,0(%rip) */
		{ "\xf7\x1d\x00\x00\x00\x00", 6, 2 },                  /* negl 0(%rip) */
		{ "\xf2\xff\x25\x00\x00\x00\x00", 7, 3 },              /* bnd jmp *0(%rip) */
		{ "\xc5\xf8\x77", 3, 0 },                              /* vzeroupper */
		{ "\xc4\xe3\x7d\x18\x05\x00\x00\x00\x00\x01", 10, 5 }, /* vinsertf128 $1,0(%rip),.. */
		{ "\x62\xf1\x7c\x48\x10\x05\x00\x00\x00\x00", 10, 6 }, /* vmovups 0(%rip),%zmm0 */
		{ "\x66\x0f\x3a\x0f\xc1\x08", 6, 0 },                  /* palignr $8 */
		{ "\x66\x0f\x70\xc0\x4e", 5, 0 },                      /* pshufd */
		{ "\x66\x66\x48\xe8\x00\x00\x00\x00", 8, 4 },          /* as before __tls_get_addr */
		{ "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, 0 },      /* mov %fs:0x28,%rax */
		{ "\x06", 0, 0 },                                      /* none in 64-bit mode */
		{ "\xe8\x00\x00", 0, 0 },                              /* cut off */
		{ "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, 0 }, /* more than 15 bytes */
	};
	static const unsigned sizes[] = { 1, 10, 7, 10, 7, 6, 7, 3, 10, 10, 6, 5, 8, 9, 1, 3, 16 };
	for (size_t i = 0; i < jp_count(insns); i++) {
		struct jp_x86_insn insn;
		bool read = jp_x86_read((const unsigned char *)insns[i].code, sizes[i], &insn);
		assert_int_equal(read, insns[i].length != 0);
		if (!read)
			continue;
		assert_int_equal(insn.length, insns[i].length);
		assert_int_equal(insn.distance, insns[i].distance);
	}
}

TEST(test_arm)
{
	/* adrp x0, 0x3000; add x0, x0, #0x10; ldr w1, [x0, #8]; bl 0x2000; ldr x2, [x0, #8]; adrp x19, 0x5000;
	 * str x1, [x19, #0x18]; cbz x1, inside; ldr x3, =..; ret */
	static const uint32_t code[] = { 0xd0000000, 0x91004000, 0xb9400801,
		                         0x940003fd, 0xf9400402, 0x90000033 | 0x00000000,
		                         0xf9000e61, 0xb4ffffe1, 0x58000043,
		                         0xd65f03c0 };
	static const uint32_t content[] = { 0x90000000, 0x91000000, 0xb9400801, 0x94000000, 0xf9400402,
		                            0x90000013, 0xf9000261, 0xb4ffffe1, 0x58000003, 0xd65f03c0 };
	static const struct jp_code_ref refs[] = {
		{ 4, false, 0x3010 }, { 12, true, 0x2000 }, { 24, false, 0x5018 }, { 32, false, 0x1028 }
	};
	splits_to(EM_AARCH64, code, sizeof code, content, refs, 4);
}

TEST(test_refused)
{
	struct jp_code_refs refs = { 0 };
	unsigned char odd[] = { 0x06, 0x90 }, cut[] = { 0x90, 0xe8, 0, 0 }, arm[] = { 0, 0, 0 };
	assert_int_equal(jp_machinecode_split(EM_X86_64, odd, sizeof odd, at_vaddr, &refs), 0);
	assert_int_equal(jp_machinecode_split(EM_X86_64, cut, sizeof cut, at_vaddr, &refs), 0);
	assert_int_equal(jp_machinecode_split(EM_AARCH64, arm, sizeof arm, at_vaddr, &refs), 0);
	assert_int_equal(jp_machinecode_split(EM_RISCV, cut, sizeof cut, at_vaddr, &refs), 0);
	free(refs.items);
}
