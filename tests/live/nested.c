/* C functions for a Ruby to call: N frames deep, then memory is allocated or the Ruby is called back. */
#include <stdlib.h>

#define FRAME __attribute__((noinline, noclone))

FRAME void *deep_alloc(int frames, size_t size)
{
	void *p = frames > 1 ? deep_alloc(frames - 1, size) : malloc(size);
	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

FRAME void *deep_back(int frames, void *(*back)(int))
{
	void *p = frames > 1 ? deep_back(frames - 1, back) : back(frames);
	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}
