/* A program whose memory jeprof and jprof must see alike. All functions but main are called p_...:
 * that tells its rows from those of the system's libraries. One call on a line, and no loop on one
 * line: compilers give parts of a line `discriminators`, which jeprof prints.
 * usage: parity EARLY LATE   where the two dumps go; sampling starts in main. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);

enum { kept = 20000 };
void *p_held[kept];
int p_count;
static mallctl_fn *p_mallctl;

__attribute__((noinline)) void p_hold(void *block)
{
	memset(block, 1, 8);
	p_held[p_count++ % kept] = block;
}

__attribute__((noinline)) void p_touch(void *block)
{
	memset(block, 1, 8);
	__asm__ volatile("" : : "r"(block) : "memory");
}

static inline __attribute__((always_inline)) void p_inlined(size_t size)
{
	void *block = malloc(size);
	p_hold(block);
}

static inline __attribute__((always_inline)) void p_inlined_twice(size_t size)
{
	p_inlined(size);
	p_inlined(size * 2);
}

__attribute__((noinline)) void p_by_calloc(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = calloc(10, 120);
		p_hold(block);
	}
}

__attribute__((noinline)) void p_by_realloc(int n)
{
	for (int i = 0; i < n; i++) {
		char *block = malloc(300);
		block = realloc(block, 3000);
		p_hold(block);
	}
}

__attribute__((noinline)) void p_by_memalign(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = NULL;
		if (posix_memalign(&block, 4096, 5000))
			abort();
		p_hold(block);
		block = aligned_alloc(64, 640);
		p_hold(block);
	}
}

__attribute__((noinline)) void p_inlines(int n)
{
	for (int i = 0; i < n; i++) {
		p_inlined_twice(700);
		p_inlined(1500);
	}
}

__attribute__((noinline)) void p_freed(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(2500);
		p_touch(block);
		free(block);
	}
}

__attribute__((noinline)) int p_recursive(int depth)
{
	void *block = malloc(900);
	p_hold(block);
	if (!depth)
		return 0;
	int below = p_recursive(depth - 1);
	return below + 1;
}

__attribute__((noinline)) int p_odd(int depth);

__attribute__((noinline)) int p_even(int depth)
{
	void *block = malloc(1000);
	p_hold(block);
	if (!depth)
		return 0;
	int below = p_odd(depth - 1);
	return below + 1;
}

__attribute__((noinline)) int p_odd(int depth)
{
	if (!depth)
		return 1;
	int below = p_even(depth - 1);
	return below + 1;
}

__attribute__((noinline)) void p_work(int n)
{
	p_by_calloc(n);
	p_by_realloc(n);
	p_by_memalign(n);
	p_inlines(n);
	p_freed(n);
	p_recursive(n);
	p_even(n);
}

void *p_thread(void *argument)
{
	int n = *(int *)argument;
	p_work(n);
	return NULL;
}

__attribute__((noinline)) void p_dump(const char *path)
{
	if (p_mallctl("prof.dump", NULL, NULL, &path, sizeof path))
		abort();
}

/* What was held before goes, so that a difference has negative rows. */
__attribute__((noinline)) void p_release(int from, int to)
{
	for (int i = from; i < to; i++) {
		free(p_held[i]);
		p_held[i] = NULL;
	}
}

int main(int argc, char **argv)
{
	bool on = true;
	pthread_t threads[3];
	int amounts[3] = { 40, 60, 80 };
	p_mallctl = (mallctl_fn *)dlsym(RTLD_DEFAULT, "mallctl");
	if (argc != 3 || !p_mallctl || p_mallctl("prof.active", NULL, NULL, &on, sizeof on)) {
		fputs("usage: parity EARLY LATE, under a jemalloc that profiles\n", stderr);
		return 1;
	}
	p_work(50);
	p_by_calloc(400);
	p_dump(argv[1]);
	int before = p_count;
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, p_thread, &amounts[i]);
		pthread_join(threads[i], NULL);
	}
	p_release(before / 2, before);
	p_dump(argv[2]);
	return 0;
}
