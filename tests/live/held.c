/* Five ways in which memory is held, for held.sh, each in a function of its own, over a day in steps of ten minutes;
 * the load changes by up to 20 % from step to step. The clock by which the agent counts is this file's: it goes on by
 * ten minutes when it is asked to. As a shared object (-DHELD_LIBRARY) the clock and what a script calls. EARLY is a
 * dump after four hours, when the cache with a limit is full. usage: held SEED DUMP RECENT EARLY */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern int mallctl(const char *name, void *old, size_t *old_size, void *now, size_t size) __attribute__((weak));

void held_dump(const char *path)
{
	if (!mallctl || mallctl("prof.dump", NULL, NULL, &path, sizeof path))
		abort();
}

static volatile long passed;

void held_step(void)
{
	passed += 600;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);
	if (clock == CLOCK_MONOTONIC)
		now->tv_sec += passed;
	return rc;
}

static void write_text(void *file, const char *text)
{
	fputs(text, file);
}

/* A dump, and what jemalloc's own record of samples says at that moment. */
void held_take(const char *dump, const char *recent)
{
	static char buffer[1 << 16];
	FILE *file = fopen(recent, "w");
	struct {
		void (*write)(void *, const char *);
		void *file;
	} writer = { write_text, file };
	if (!file)
		abort();
	setvbuf(file, buffer, _IOFBF, sizeof buffer);
	held_dump(dump);
	if (mallctl("experimental.prof_recent.alloc_dump", NULL, NULL, &writer, sizeof writer) || fclose(file))
		abort();
}

#ifndef HELD_LIBRARY
enum { steps = 144, early_step = 24, most = 1 << 18 };

static void *volatile kept[most];
static size_t kept_count;
static void *volatile queue[most];
static size_t queue_first, queue_last;

#define WORK __attribute__((noinline)) static void

WORK startup(int n)
{
	while (n-- > 0)
		kept[kept_count++] = malloc(1000);
}

WORK growing(int n)
{
	while (n-- > 0)
		kept[kept_count++] = malloc(1000);
}

WORK levelled_off(int n)
{
	while (n-- > 0)
		kept[kept_count++] = malloc(1000);
}

WORK one_jump(int n)
{
	while (n-- > 0)
		kept[kept_count++] = malloc(1000);
}

WORK turnover(int n, size_t limit)
{
	while (n-- > 0) {
		queue[queue_last++] = malloc(1000);
		if (queue_last - queue_first > limit)
			free(queue[queue_first++]);
	}
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 1;
	srand48(atol(argv[1]));
	int jump = 30 + (int)(drand48() * 80), filled = 4000 + (int)(drand48() * 4000);
	startup(9000);
	for (int i = 0; i < steps; i++) {
		if (i == early_step)
			held_dump(argv[4]);
		int n = (int)(120 * (0.8 + 0.4 * drand48()));
		held_step();
		growing(n);
		turnover(2 * n, 5000);
		levelled_off(n < filled ? n : filled);
		filled -= n < filled ? n : filled;
		if (i == jump)
			one_jump(9000);
	}
	held_take(argv[2], argv[3]);
	return 0;
}
#endif
