/* Several threads hold known amounts while the heap is dumped.

   threads OUT.heap        names threads through thread.prof.name
   threads OUT.heap sys    names threads for the system (jemalloc: prof_sys_thread_name:true)

   Run with libjemalloc preloaded and MALLOC_CONF=prof:true,... */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not linked against jemalloc: LD_PRELOAD chooses which one. */
__attribute__((weak)) int mallctl(const char *, void *, size_t *, void *, size_t);

#define noinline __attribute__((noinline))

struct job {
	const char *name;     /* graphic characters and blanks only, jemalloc says */
	const char *sys_name; /* up to 15 bytes, any */
	size_t size;
	int kept, freed;
};

static const struct job jobs[] = {
	{"alpha", "alpha", 5000, 200, 0},
	{"beta worker", "beta worker", 100, 1000, 2000},
	{"", "", 3000, 100, 0},
	{"t*: 1: 2 [3: 4]", "t*: 1: 2 [3: 4]", 700, 100, 0},
	{"@ 0x1 0x2", "@ 0x1 0x2", 800, 100, 0},
	{"MAPPED_LIBRARIES:", "two\nlines", 900, 100, 0},
	{"it's \"$(x)\"; \\n", "na\303\257ve \342\230\203", 1000, 100, 0},
	{" \tblanks  ", " \tblanks  ", 1100, 100, 0},
};
enum { N_JOBS = sizeof jobs / sizeof *jobs };

static pthread_barrier_t ready, done;
static int sys_names;
static void *volatile keep; /* so that no allocation is optimised away */

static noinline void row_new(size_t size)
{
	keep = memset(malloc(size), 1, size);
}

static noinline void rows_keep(size_t size, int n)
{
	for (int i = 0; i < n; i++)
		row_new(size);
}

static noinline void rows_free(size_t size, int n)
{
	for (int i = 0; i < n; i++) {
		row_new(size);
		free(keep);
	}
}

static void *work(void *arg)
{
	const struct job *job = arg;

	if (sys_names)
		pthread_setname_np(pthread_self(), job->sys_name);
	else if (mallctl("thread.prof.name", NULL, NULL, (void *)&job->name, sizeof job->name))
		fprintf(stderr, "jemalloc refuses the thread name '%s'\n", job->name);
	rows_keep(job->size, job->kept);
	rows_free(job->size, job->freed);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&done);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_JOBS];

	if (argc < 2 || !mallctl) {
		fprintf(stderr, "usage: LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=prof:true %s OUT.heap [sys]\n", argv[0]);
		return 1;
	}
	sys_names = argc > 2;
	pthread_barrier_init(&ready, NULL, N_JOBS + 1);
	pthread_barrier_init(&done, NULL, N_JOBS + 1);
	for (int i = 0; i < N_JOBS; i++)
		pthread_create(&threads[i], NULL, work, (void *)&jobs[i]);
	rows_keep(2000, 500);

	pthread_barrier_wait(&ready);
	if (mallctl("prof.dump", NULL, NULL, (void *)&argv[1], sizeof argv[1])) {
		fprintf(stderr, "no dump: is MALLOC_CONF=prof:true set, and libjemalloc built with --enable-prof?\n");
		return 1;
	}
	pthread_barrier_wait(&done);
	for (int i = 0; i < N_JOBS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
