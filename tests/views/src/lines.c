/* A program that knows on which of its lines memory was got: "FUNCTION LINE FLAT CUM" on standard output, in bytes
 * of jemalloc's size classes. usage: lines DUMP; every allocation is to be sampled. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);

static size_t held; /* so far, all in all */
void *l_last;

static struct {
	const char *function;
	int line;
	size_t flat, cum;
} known[64];
static int count;

/* The counters are of static memory: noting a line allocates nothing. */
__attribute__((noinline)) static void note(const char *function, int line, size_t flat, size_t cum)
{
	for (int i = 0; i < count; i++)
		if (known[i].line == line) {
			known[i].flat += flat;
			known[i].cum += cum;
			return;
		}
	known[count].function = function;
	known[count].line = line;
	known[count].flat = flat;
	known[count++].cum = cum;
}

/* All sizes used are size classes. Recursive calls are noted by the outermost one. */
#define HOLD(size)                                                                                                     \
	do {                                                                                                           \
		l_last = malloc(size);                                                                                 \
		memset(l_last, 1, size);                                                                               \
		held += (size);                                                                                        \
		note(__func__, __LINE__, size, size);                                                                  \
	} while (0)

#define CALL(call)                                                                                                     \
	do {                                                                                                           \
		size_t before = held;                                                                                  \
		call;                                                                                                  \
		note(__func__, __LINE__, 0, held - before);                                                            \
	} while (0)

static inline __attribute__((always_inline)) void l_inner(void)
{
	HOLD(1024);
	HOLD(2048);
}

static inline __attribute__((always_inline)) void l_middle(void)
{
	CALL(l_inner());
	HOLD(512);
}

__attribute__((noinline)) void l_leaf(void)
{
	for (int i = 0; i < 10; i++) {
		HOLD(4096);
	}
	HOLD(8192);
}

__attribute__((noinline)) void l_outer(void)
{
	HOLD(640);
	CALL(l_middle());
	CALL(l_leaf());
	CALL(l_middle());
	CALL(l_inner());
}

__attribute__((noinline)) void l_round(int depth)
{
	HOLD(320);
	if (depth > 0) {
		l_round(depth - 1);
	}
	__asm__ volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	mallctl_fn *mallctl = (mallctl_fn *)dlsym(RTLD_DEFAULT, "mallctl");
	bool on = true;
	const char *path = argv[1];
	if (argc != 2 || !mallctl || mallctl("prof.active", NULL, NULL, &on, sizeof on))
		return 1;
	CALL(l_outer());
	CALL(l_leaf());
	CALL(l_round(5));
	if (mallctl("prof.dump", NULL, NULL, &path, sizeof path))
		return 1;
	for (int i = 0; i < count; i++)
		printf("%s %d %zu %zu\n", known[i].function, known[i].line, known[i].flat, known[i].cum);
	return 0;
}
