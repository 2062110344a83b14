/* The library of evidence.sh: eight functions that call back, all of one form. -DTURN: the same code, but each has the
 * name of the next. -DPADDING=N: N nops in each, so that calls are elsewhere. */
#ifndef PADDING
#define PADDING 0
#endif
#ifdef TURN
#define NAMES(x) x(b, 0) x(c, 1) x(d, 2) x(e, 3) x(f, 4) x(g, 5) x(h, 6) x(a, 7)
#else
#define NAMES(x) x(a, 0) x(b, 1) x(c, 2) x(d, 3) x(e, 4) x(f, 5) x(g, 6) x(h, 7)
#endif
#define TEXT(x) #x
#define NOPS(n) __asm__ volatile(".fill " TEXT(n) ", 1, 0x90")

#define DEFINE(name, number)                                                                                           \
	static __attribute__((noinline, used)) void door_##name(void (*back)(int))                                     \
	{                                                                                                              \
		NOPS(PADDING);                                                                                         \
		back(number);                                                                                          \
		__asm__ volatile("");                                                                                  \
	}
#define CALL(name, number) door_##name(back);

NAMES(DEFINE)

void open_doors(void (*back)(int))
{
	NAMES(CALL)
	__asm__ volatile("");
}
