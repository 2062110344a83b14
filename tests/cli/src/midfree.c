/* A function of the program's own that is called as one of the allocator's, in mid-stack: static, so
 * that nobody else calls it. Each holds 100 blocks. Compile with -fno-builtin.
 * usage: midfree DUMP */
#define _GNU_SOURCE
#include <dlfcn.h>

void *malloc(unsigned long);
void *held[1000];
int count;

__attribute__((noinline)) static void below_free(void)
{
	for (int i = 0; i < 100; i++) {
		void *block = malloc(5000);
		held[count++] = block;
	}
}

__attribute__((noinline)) static int free(int n)
{
	below_free();
	return n + 1;
}

__attribute__((noinline)) static int calloc(int n)
{
	int below = free(n);
	return below + 1;
}

int main(int argc, char **argv)
{
	int (*mallctl)(const char *, void *, unsigned long *, void *, unsigned long) = dlsym(RTLD_DEFAULT, "mallctl");
	const char *path = argv[1];
	int n = calloc(argc);
	return !n || mallctl("prof.dump", 0, 0, &path, sizeof path);
}
