/* Allocates so many bytes at each depth of recursion that it is given, then dumps: deep OUT DEPTH KIB [DEPTH KIB]... */
#include <stddef.h>
#include <stdlib.h>

__attribute__((weak)) int mallctl(const char *name, void *old, size_t *old_len, void *now, size_t now_len);

static void *volatile kept;

__attribute__((noinline)) void deep_down(int depth, size_t size)
{
	if (depth)
		deep_down(depth - 1, size);
	else
		kept = malloc(size);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i += 2)
		deep_down(atoi(argv[i]), (size_t)atoi(argv[i + 1]) * 1024);
	return mallctl("prof.dump", NULL, NULL, &argv[1], sizeof argv[1]);
}
