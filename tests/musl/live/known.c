/* Holds memory through known stacks and writes a dump to argv[1]; with argv[2], makes that
 * file and stays. With lg_prof_sample:0 every byte is
 * recorded, so what each row must show is known to the byte; live.sh knows the numbers. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MB = 1 << 20 };
static void *volatile kept[64];
static int kept_count;
static char text[3 * MB];

__attribute__((noinline)) void *keep(void *p)
{
	if (!p)
		abort();
	return kept[kept_count++] = p;
}

/* 10 MB: main > outer > inner. */
__attribute__((noinline)) void inner(void)
{
	for (int i = 0; i < 10; i++)
		keep(malloc(MB));
}

__attribute__((noinline)) void outer(void)
{
	inner();
	keep(kept[0]); /* no tail call */
}

/* 5 MB: the caller is libc's sort, through which the unwinder does not get. */
__attribute__((noinline)) int compare(const void *a, const void *b)
{
	static int called;
	if (!called++)
		keep(malloc(5 * MB));
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) void sorts(void)
{
	static int numbers[] = { 3, 1, 2 };
	qsort(numbers, 3, sizeof *numbers, compare);
	keep(numbers);
}

/* 3 MB: libc itself calls malloc. */
__attribute__((noinline)) void copies(void)
{
	memset(text, 'x', sizeof text - 1);
	keep(strdup(text));
}

/* 4 MB and a little: a function of libc that has no symbol calls realloc. */
__attribute__((noinline)) void streams(void)
{
	static char *data;
	static size_t len;
	FILE *f = open_memstream(&data, &len);
	setvbuf(f, NULL, _IONBF, 0);
	fwrite(text, 1, 4 * MB / 2, f);
	keep(f);
}

/* 7 MB: a thread starts in libc. */
__attribute__((noinline)) void *in_thread(void *unused)
{
	keep(malloc(7 * MB));
	return unused;
}

int main(int argc, char **argv)
{
	int (*mallctl)(const char *, void *, size_t *, void *, size_t) = dlsym(RTLD_DEFAULT, "mallctl");
	pthread_t thread;
	if (argc < 2 || !mallctl) {
		fprintf(stderr, "usage: LD_PRELOAD=libjemalloc.so.2 known DUMP [READY]\n");
		return 2;
	}
	outer();
	sorts();
	copies();
	streams();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	int rc = mallctl("prof.dump", NULL, NULL, &argv[1], sizeof argv[1]);
	if (rc)
		fprintf(stderr, "prof.dump: %s\n", strerror(rc));
	if (!rc && argc > 2 && fopen(argv[2], "w"))
		for (;;)
			pause();
	return rc != 0;
}
