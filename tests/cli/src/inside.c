/* jemalloc is a part of this program. PREFIXED(name): what its functions are called.
 * usage: inside DUMP */
#include <stddef.h>

#ifndef PREFIXED
#define PREFIXED(name) name
#endif

void *PREFIXED(malloc)(size_t);
void *PREFIXED(calloc)(size_t, size_t);
void *PREFIXED(realloc)(void *, size_t);
void *PREFIXED(aligned_alloc)(size_t, size_t);
void *PREFIXED(mallocx)(size_t, int);
int PREFIXED(mallctl)(const char *, void *, size_t *, void *, size_t);

void *held[10000];
int count;

__attribute__((noinline)) void keep(void *block)
{
	held[count++] = block;
}

__attribute__((noinline)) void by_malloc(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(malloc)(5000));
}

__attribute__((noinline)) void by_calloc(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(calloc)(2, 2500));
}

__attribute__((noinline)) void by_realloc(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(realloc)(PREFIXED(malloc)(100), 5000));
}

__attribute__((noinline)) void by_aligned_alloc(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(aligned_alloc)(256, 5120));
}

__attribute__((noinline)) void by_mallocx(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(mallocx)(5000, 0));
}

__attribute__((noinline)) void large(void)
{
	for (int i = 0; i < 100; i++)
		keep(PREFIXED(malloc)(40000));
}

int main(int argc, char **argv)
{
	const char *path = argv[1];
	by_malloc();
	by_calloc();
	by_realloc();
	by_aligned_alloc();
	by_mallocx();
	large();
	return argc != 2 || PREFIXED(mallctl)("prof.dump", NULL, NULL, &path, sizeof path);
}
