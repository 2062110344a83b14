#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ruby/ruby_vm.h"

static bool is_code(const unsigned char *code, const char *bytes)
{
	return memcmp(code, bytes, strlen(bytes)) == 0;
}

/* test %rax,%rax; mov N(%rax),%rax; mov N(%rax),%rdi: the pointer to the VM is in rax. */
static bool uses_pointer(const unsigned char *code)
{
	return is_code(code, "\x48\x85\xc0") || is_code(code, "\x48\x8b\x80") || is_code(code, "\x48\x8b\xb8");
}

/* After an endbr64, perhaps, one of
 *     lea N(%rip),%rax; mov (%rax),%rax      the variable's address, then its value
 *     mov N(%rip),%rax; mov (%rax),%rax      its address out of the table of addresses (GOT), then its value
 *     mov N(%rip),%rax                       its value
 * and then the use of it. */
void *const *ruby_head_variable(const void *function)
{
	enum { load = 7 };
	const unsigned char *code = function;
	int32_t distance;
	if (is_code(code, "\xf3\x0f\x1e\xfa"))
		code += 4;
	memcpy(&distance, code + 3, sizeof distance);
	void *const *place = (void *const *)(code + load + distance);
	bool again = memcmp(code + load, "\x48\x8b\x00", 3) == 0 && uses_pointer(code + load + 3);
	if (is_code(code, "\x48\x8d\x05"))
		return again ? place : NULL;
	if (!is_code(code, "\x48\x8b\x05"))
		return NULL;
	return again ? *place : uses_pointer(code + load) ? place : NULL;
}
