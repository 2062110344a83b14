/* How long a dump takes, and how long it stops other threads that allocate.
 *
 * usage: pause STACKS [DIRECTORY]   under jemalloc with prof:true,lg_prof_sample:0
 *
 * STACKS blocks are allocated, each with a backtrace of its own of some 30 frames. Then a second thread allocates and
 * frees, with the backtraces that are known and with new ones, and keeps the longest time that one such pair took: for
 * a second without a dump, and while one is written (to DIRECTORY, /tmp by default). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len) __attribute__((weak));

enum { DEPTH = 30 };

static atomic_bool stop;
static atomic_ulong longest; /* ns */
static size_t fresh;

static unsigned long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long)time.tv_sec * 1000000000ul + (unsigned long)time.tv_nsec;
}

/* Two functions that call one another by the bits of `path`: each number is a backtrace. */
static void *left(size_t path, int depth);
static void *right(size_t path, int depth);

__attribute__((noinline)) static void *left(size_t path, int depth)
{
	void *block = depth == 0 ? malloc(64) : path & 1 ? right(path >> 1, depth - 1) : left(path >> 1, depth - 1);
	__asm__ volatile("" : "+r"(block));
	return block;
}

__attribute__((noinline)) static void *right(size_t path, int depth)
{
	void *block = depth == 0 ? malloc(64) : path & 1 ? right(path >> 1, depth - 1) : left(path >> 1, depth - 1);
	__asm__ volatile("" : "+r"(block));
	return block;
}

static void *allocate(void *unused)
{
	for (size_t i = 0; !atomic_load(&stop); i++) {
		unsigned long began = now(), took;
		free(left(i % 8 ? i % 512 : fresh++, DEPTH));
		took = now() - began;
		if (took > atomic_load(&longest))
			atomic_store(&longest, took);
	}
	return unused;
}

int main(int argc, char **argv)
{
	size_t stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char path[4096];
	const char *name = path;
	struct stat st;
	pthread_t thread;
	if (!mallctl || stacks == 0) {
		fprintf(stderr, "usage: pause STACKS [DIRECTORY], with jemalloc preloaded\n");
		return 2;
	}
	for (size_t i = 0; i < stacks; i++)
		if (!left(i, DEPTH))
			return 1;
	fresh = stacks;
	snprintf(path, sizeof path, "%s/jprof-pause.%d.heap", argc > 2 ? argv[2] : "/tmp", (int)getpid());
	if (pthread_create(&thread, NULL, allocate, NULL) != 0)
		return 1;
	sleep(1);
	unsigned long before = atomic_exchange(&longest, 0), began = now();
	int error = mallctl("prof.dump", NULL, NULL, &name, sizeof name);
	unsigned long took = now() - began;
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	unsigned long during = atomic_load(&longest);
	if (error || stat(path, &st) != 0) {
		fprintf(stderr, "no dump: is it MALLOC_CONF=prof:true?\n");
		return 1;
	}
	unlink(path);
	printf("%zu stacks: dump %.1f ms, %.1f MB; longest malloc and free %.2f ms, without a dump %.2f ms\n", stacks,
	       (double)took / 1e6, (double)st.st_size / 1e6, (double)during / 1e6, (double)before / 1e6);
	return 0;
}
