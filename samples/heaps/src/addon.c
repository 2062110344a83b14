/* A library that is loaded from odd places, see maps.c. */
#include <stdlib.h>
#include <string.h>

static void *volatile keep;

static __attribute__((noinline)) void addon_row(size_t size)
{
	keep = memset(malloc(size), 1, size);
}

/* On a page of its own, see split() in maps.c. */
__attribute__((aligned(4096))) void addon_keep(size_t size, int n)
{
	for (int i = 0; i < n; i++)
		addon_row(size);
}
