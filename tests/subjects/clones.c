/* What GCC makes clones of at -O2: f.cold, f.isra.0, f.constprop.0, f.part.0, and nested.0. */
#include "site.h"

static volatile int zero;

__attribute__((cold)) static NOINLINE void rare(void)
{
	zero = 0;
}

static NOINLINE void has_cold_part(int n)
{
	if (n == 0) {
		rare();
		HERE(0, CLONE);
	}
	zero = n;
}

static NOINLINE int same_argument(int n, int always_seven)
{
	HERE(0, CLONE);
	for (int i = 0; i < always_seven; i++)
		n += zero * always_seven;
	return n;
}

struct pair {
	int a, b;
};

static NOINLINE int by_reference(const struct pair *pair)
{
	int a = pair->a;
	HERE(0, CLONE);
	return a + zero;
}

/* Its head is inlined into the callers, the rest is split off. */
static int split(int n)
{
	if (n == 0)
		return 0;
	HERE(0, CLONE);
	for (int i = 0; i < n; i++)
		zero += i * n;
	HERE(0, CLONE);
	return zero;
}

static NOINLINE int split_caller_a(int n)
{
	return split(n) + 1;
}

static NOINLINE int split_caller_b(int n)
{
	return split(n) * 2;
}

#ifndef __clang__
static NOINLINE int around(int n)
{
	int local = n;
	__attribute__((noinline)) void nested(void)
	{
		HERE(0, CLONE);
		local++;
	}
	nested();
	return local;
}
#endif

void subject_run(void)
{
	struct pair pair = { zero, 1 };
	has_cold_part(zero);
	zero = same_argument(zero, 7) * 0;
	zero = same_argument(zero + 1, 7) * 0;
	zero = by_reference(&pair) * 0;
	zero = split_caller_a(zero + 1) * 0;
	zero = split_caller_b(zero + 2) * 0;
#ifndef __clang__
	zero = around(zero) * 0;
#endif
}
