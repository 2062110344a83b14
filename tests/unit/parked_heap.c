/* A heap that stands still: threads allocate and free, all of them wait, and the program says what jemalloc counts and
 * waits for the end of its input. Whoever reads that memory from outside must count the same.
 * usage: parked_heap THREADS [DUMP [RECENT]]   (jemalloc in LD_PRELOAD, or linked; with prof:true DUMP gets its
 * profile, and RECENT, with prof_recent_alloc_max:-1, when each sample was allocated) */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_threads = 32, objects = 6000, small_classes = 36, large_classes = 196 };

typedef int control_fn(const char *, void *, size_t *, void *, size_t);
static control_fn *control;
static pthread_barrier_t parked;
static void *kept[most_threads + 1][objects];

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Of every four objects one is freed, many of them into the thread's cache. */
static void fill(unsigned who)
{
	uint64_t state = who + 1;
	for (int i = 0; i < objects; i++) {
		uint64_t size = next_random(&state) % 1000;
		if (i % 250 == 0)
			size = next_random(&state) % 200000;
		kept[who][i] = malloc(size + 1);
		memset(kept[who][i], 1, malloc_usable_size(kept[who][i]));
		if (i % 4 == 3) {
			free(kept[who][i - 2]);
			kept[who][i - 2] = NULL;
		}
	}
}

static void *thread_main(void *who)
{
	fill((unsigned)(uintptr_t)who);
	pthread_barrier_wait(&parked);
	pause();
	return NULL;
}

static uint64_t counted(const char *fmt, unsigned i)
{
	char name[64];
	uint64_t value = 0;
	size_t size = sizeof value;
	snprintf(name, sizeof name, fmt, i);
	if (control(name, &value, &size, NULL, 0)) {
		fprintf(stderr, "no %s\n", name);
		_exit(2);
	}
	return value;
}

/* Nothing is allocated between the moment of the counts and the park. */
static void say_counts(void)
{
	static char text[1 << 16];
	int len = 0;
	uint64_t epoch = 1;
	for (int i = 0; i < 2; i++)
		control("epoch", NULL, NULL, &epoch, sizeof epoch);
	for (unsigned i = 0; i < small_classes; i++)
		len += snprintf(text + len, sizeof text - len, "class %u %llu\n", i,
		                (unsigned long long)counted("stats.arenas.4096.bins.%u.curregs", i));
	for (unsigned i = 0; i < large_classes; i++)
		len += snprintf(text + len, sizeof text - len, "class %u %llu\n", small_classes + i,
		                (unsigned long long)counted("stats.arenas.4096.lextents.%u.curlextents", i));
	len +=
	    snprintf(text + len, sizeof text - len, "allocated %llu\nactive %llu\ncached %llu\nend 1\n",
	             (unsigned long long)counted("stats.allocated", 0), (unsigned long long)counted("stats.active", 0),
	             (unsigned long long)counted("stats.arenas.4096.tcache_bytes", 0));
	if (write(STDOUT_FILENO, text, (size_t)len) != len)
		_exit(2);
}

#ifdef LINKED
int mallctl(const char *, void *, size_t *, void *, size_t);

static control_fn *find_control(void)
{
	return mallctl;
}
#else
static control_fn *find_control(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "mallctl");
	control_fn *found;
	memcpy(&found, &symbol, sizeof found);
	return found;
}
#endif

static void write_piece(void *fd, const char *text)
{
	size_t len = strlen(text);
	if (write(*(int *)fd, text, len) != (ssize_t)len)
		_exit(2);
}

/* write_cb_packet_t of jemalloc's mallctl.h. */
static int write_recent(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	struct {
		void (*write)(void *fd, const char *text);
		void *fd;
	} packet = { write_piece, &fd };
	return fd < 0 || control("experimental.prof_recent.alloc_dump", NULL, NULL, &packet, sizeof packet);
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	char end;
	control = find_control();
	if (!control || threads > most_threads)
		return 2;
	pthread_barrier_init(&parked, NULL, threads + 1);
	for (unsigned i = 1; i <= threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, thread_main, (void *)(uintptr_t)i))
			return 2;
	}
	fill(0);
	pthread_barrier_wait(&parked);
	if (argc > 2 && control("prof.dump", NULL, NULL, &argv[2], sizeof argv[2]))
		return 2;
	if (argc > 3 && write_recent(argv[3]))
		return 2;
	say_counts();
	return read(STDIN_FILENO, &end, 1) < 0;
}
