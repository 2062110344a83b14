/* Holds `rows` blocks of 1000 bytes (size class 1024) by one function and `cells` blocks of 100
 * (class 112) by another, then dumps. With lg_prof_sample:0 the dump has just that.
 * usage: grow DUMP ROWS CELLS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);

enum { kept = 20000 };
void *g_held[kept];
int g_count;

__attribute__((noinline)) void g_hold(void *block)
{
	memset(block, 1, 8);
	g_held[g_count++ % kept] = block;
}

__attribute__((noinline)) void g_rows(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(1000);
		g_hold(block);
	}
}

__attribute__((noinline)) void g_cells(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(100);
		g_hold(block);
	}
}

int main(int argc, char **argv)
{
	mallctl_fn *mallctl = (mallctl_fn *)dlsym(RTLD_DEFAULT, "mallctl");
	bool on = true;
	if (argc != 4 || !mallctl || mallctl("prof.active", NULL, NULL, &on, sizeof on))
		return 1;
	g_rows(atoi(argv[2]));
	g_cells(atoi(argv[3]));
	on = false;
	if (mallctl("prof.active", NULL, NULL, &on, sizeof on))
		return 1;
	return mallctl("prof.dump", NULL, NULL, &argv[1], sizeof argv[1]);
}
