/* Plain functions, functions inlined three deep, a call that never returns, a far segment. */
#include "site.h"

/* A different build: all code of this file in SECTION, and what the linker puts behind it, is
 * PADDING bytes further on. */
#ifdef PADDING
__asm__(".section " SECTION ", \"ax\"\n\t.skip " PADDING ", 0x90\n\t.text\n");
#endif

static NOINLINE void plain(void)
{
	HERE(plain, 0);
}

/* Its second site is one line below the first. */
static NOINLINE void two_lines(void)
{
	HERE(two_lines, 0);
	HERE(two_lines, 0);
}

static ALWAYS void inner(const struct site *outer)
{
	HERE_INLINED(outer);
}

static ALWAYS void middle(const struct site *outer)
{
	CALL_INLINED(inner, outer);
}

static ALWAYS void outer(const struct site *out)
{
	HERE_INLINED(out);
	CALL_INLINED(middle, out);
}

static NOINLINE void three_deep(void)
{
	CALL(outer, three_deep, 0);
}

/* The same function inlined at two places: the lines of the calls tell them apart. */
static NOINLINE void inlined_twice(int turns)
{
	for (int i = 0; i < turns; i++) {
		volatile int in_a_block = i;
		if (in_a_block == 0)
			CALL(inner, inlined_twice, 0);
		else
			CALL(middle, inlined_twice, 0);
	}
}

static NOINLINE void recursive(int depth)
{
	if (depth > 0)
		recursive(depth - 1);
	else
		HERE(recursive, 0);
	__asm__ volatile("" ::: "memory");
}

/* In an executable segment of its own where the linker is told so. */
__attribute__((section(".far_text"))) static NOINLINE void far_away(void)
{
	HERE(far_away, 0);
}

/* Thrown away by the linker with --gc-sections, while its DWARF stays, then with addresses from 0
 * on. It is large, so that these would reach into the code of others. */
void never_called(void)
{
	__asm__ volatile(".skip 65536, 0x90");
}

/* The call is the last instruction: it would return to where the next function starts. */
static NOINLINE void no_return(void)
{
	CALL(record_last, no_return, 0);
}

void subject_run(void)
{
	plain();
	two_lines();
	three_deep();
	inlined_twice(2);
	recursive(3);
	far_away();
	no_return();
}
