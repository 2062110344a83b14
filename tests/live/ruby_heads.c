/* Machine code that rb_during_gc begins with, for each kind of machine, and code that must not be taken for it. The
 * bytes are those of Debian's libruby and of what gcc and clang make of the same C in other ways (objdump -d). */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void *const *head_x86_64(const void *code);
void *const *head_aarch64(const void *code);

/* Pages as a library has them: code, the table of addresses (GOT), variables. */
static struct {
	_Alignas(4096) unsigned char code[4096];
	_Alignas(4096) void *table[512];
	_Alignas(4096) void *variables[512];
} library;

enum { SLOT = 3 };

static int failures;

static void check(const char *what, void *const *found, void *const *expected)
{
	if (found != expected) {
		printf("FAIL: %s: found %p, not %p\n", what, (const void *)found, (const void *)expected);
		failures++;
	}
}

static void put(const void *bytes, size_t size)
{
	memset(library.code, 0xcc, sizeof library.code);
	memcpy(library.code, bytes, size);
	memset(library.table, 0, sizeof library.table);
	library.table[SLOT] = &library.variables[SLOT];
}

/* `place` is 0, or where in the code the 4 bytes of the distance to `target` are. */
static void x86_64(const char *what, const char *bytes, size_t size, int place, void *target, void *const *expected)
{
	put(bytes, size);
	int32_t distance = (int32_t)((unsigned char *)target - (library.code + place + 4));
	if (place)
		memcpy(library.code + place, &distance, sizeof distance);
	check(what, head_x86_64(library.code), expected);
}
#define X86_64(what, place, target, expected, bytes) x86_64(what, bytes, sizeof bytes - 1, place, target, expected)

static void test_x86_64(void)
{
	void **slot = &library.table[SLOT], **variable = &library.variables[SLOT];
	X86_64("3.3: lea, mov, test", 7, variable, variable,
	       "\xf3\x0f\x1e\xfa\x48\x8d\x05....\x48\x8b\x00\x48\x85\xc0\x74\x15");
	X86_64("3.1: mov from the table, mov, mov", 3, slot, variable,
	       "\x48\x8b\x05....\x48\x8b\x00\x48\x8b\x80\x50\x04");
	X86_64("mov of a hidden variable, test", 3, variable, variable, "\x48\x8b\x05....\x48\x85\xc0\x74\x15");
	X86_64("mov of a hidden variable, mov to rdi", 3, variable, variable,
	       "\x48\x8b\x05....\x48\x8b\xb8\x50\x04\0\0");
	X86_64("into another register", 3, variable, NULL, "\x48\x8b\x0d....\x48\x85\xc9");
	X86_64("an unknown use", 3, variable, NULL, "\x48\x8b\x05....\x48\x8b\x40\x10");
	X86_64("lea without mov", 3, variable, NULL, "\x48\x8d\x05....\x48\x85\xc0");
	X86_64("a frame first", 0, variable, NULL, "\x55\x48\x89\xe5\x48\x8b\x05....\x48\x85\xc0");
	X86_64("an enlarged stack first", 0, variable, NULL, "\x48\x83\xec\x08\xe8....\x48\x85\xc0");
}

static uint32_t adrp(const void *target)
{
	uint64_t pages = ((uintptr_t)target >> 12) - ((uintptr_t)library.code >> 12);
	return 0x90000000 | (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5;
}

static void test_aarch64(void)
{
	const uint32_t load = 0xf9400000, again = 0xf9400000, bti = 0xd503245f, cbz = 0xb40000a0, gc = 0xf9429800;
	const uint32_t slot_load = load | SLOT << 10, slot_add = 0x91000000 | 8 * SLOT << 10;
	void **variable = &library.variables[SLOT];
	const uint32_t from_table[] = { adrp(library.table), slot_load, again, cbz };
	const uint32_t guarded[] = { bti, adrp(library.table), slot_load, again, gc };
	const uint32_t address[] = { adrp(variable), slot_add, again, cbz };
	const uint32_t hidden[] = { adrp(variable), slot_load, cbz };
	const uint32_t hidden_used[] = { adrp(variable), slot_load, gc };
	const uint32_t other_register[] = { adrp(variable) | 1, slot_load, cbz };
	const uint32_t other_use[] = { adrp(variable), slot_load, 0xd65f03c0 };
	const uint32_t frame[] = { 0xa9bf7bfd, adrp(variable), slot_load, cbz };
	put(from_table, sizeof from_table);
	check("aarch64, 3.3: from the table", head_aarch64(library.code), variable);
	put(guarded, sizeof guarded);
	check("aarch64, 3.1, after bti", head_aarch64(library.code), variable);
	put(address, sizeof address);
	check("aarch64, by address", head_aarch64(library.code), variable);
	put(hidden, sizeof hidden);
	check("aarch64, hidden", head_aarch64(library.code), variable);
	put(hidden_used, sizeof hidden_used);
	check("aarch64, hidden, without a test", head_aarch64(library.code), variable);
	put(other_register, sizeof other_register);
	check("aarch64, another register", head_aarch64(library.code), NULL);
	put(other_use, sizeof other_use);
	check("aarch64, an unknown use", head_aarch64(library.code), NULL);
	put(frame, sizeof frame);
	check("aarch64, a frame first", head_aarch64(library.code), NULL);
}

int main(void)
{
	test_x86_64();
	test_aarch64();
	printf("%d failures\n", failures);
	return failures != 0;
}
