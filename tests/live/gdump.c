/* gdump STACKS: allocates on as many stacks, which differ by the bits of their number. With prof_gdump:true
 * jemalloc 5.3 locks itself up: a thread's table of stacks grows under the lock of that table; the growth is a new
 * peak, whose dump begins at once on the same thread, and takes the locks of all tables. */
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 18 };

static void *kept;

static void *descend_stack(unsigned bits, int depth);

static __attribute__((noinline)) void *gdump_zero(unsigned bits, int depth)
{
	void *made = descend_stack(bits, depth);
	__asm__ volatile(""); /* no tail call */
	return made;
}

static __attribute__((noinline)) void *gdump_one(unsigned bits, int depth)
{
	void *made = descend_stack(bits, depth);
	__asm__ volatile("");
	return made;
}

static void *descend_stack(unsigned bits, int depth)
{
	if (!depth)
		return malloc(sizeof kept);
	return bits & 1 ? gdump_one(bits >> 1, depth - 1) : gdump_zero(bits >> 1, depth - 1);
}

int main(int argc, char **argv)
{
	unsigned stacks = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	for (unsigned i = 0; i < stacks; i++) {
		void **made = descend_stack(i, DEPTH);
		*made = kept;
		kept = made;
	}
	puts("done");
	return 0;
}
