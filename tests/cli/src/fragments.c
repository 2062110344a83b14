/* Plants fragmentation: four owners allocate, in turns, and free a part of it, scattered, so that the slabs stay. Two
 * have a size class of their own, two share one. Prints jemalloc's own count of the classes, and waits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((weak)) int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);

enum { EACH = 120000 };

#define OWNER(name, size)                                                                                              \
	__attribute__((noinline)) static void *name(void)                                                              \
	{                                                                                                              \
		char *object = malloc(size);                                                                           \
		memset(object, 1, size);                                                                               \
		return object;                                                                                         \
	}

OWNER(owner_small, 192)
OWNER(owner_large, 1280)
OWNER(owner_wasteful, 448)
OWNER(owner_frugal, 448)

static struct {
	void *(*make)(void);
	unsigned keep; /* of 10 */
	void *objects[EACH];
} owners[] = {
	{ owner_small, 2, { 0 } }, { owner_large, 5, { 0 } }, { owner_wasteful, 2, { 0 } }, { owner_frugal, 9, { 0 } }
};

static uint64_t number(const char *format, unsigned bin)
{
	char name[96];
	uint64_t value = 0;
	size_t len = sizeof value;
	snprintf(name, sizeof name, format, bin);
	if (mallctl(name, &value, &len, NULL, 0)) {
		uint32_t small = 0;
		len = sizeof small;
		mallctl(name, &small, &len, NULL, 0);
		value = small;
	}
	return value;
}

/* SIZE BYTES-FREE of each class, over all arenas. */
static void print_classes(void)
{
	uint64_t epoch = 1;
	mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
	for (unsigned bin = 0; bin < number("arenas.nbins", 0); bin++) {
		uint64_t size = number("arenas.bin.%u.size", bin);
		uint64_t places =
		    number("stats.arenas.4096.bins.%u.curslabs", bin) * number("arenas.bin.%u.nregs", bin);
		printf("%llu %llu\n", (unsigned long long)size,
		       (unsigned long long)((places - number("stats.arenas.4096.bins.%u.curregs", bin)) * size));
	}
}

int main(void)
{
	unsigned long seed = 7;
	for (int i = 0; i < EACH; i++)
		for (size_t o = 0; o < sizeof owners / sizeof *owners; o++)
			owners[o].objects[i] = owners[o].make();
	for (int i = 0; i < EACH; i++)
		for (size_t o = 0; o < sizeof owners / sizeof *owners; o++) {
			seed = seed * 6364136223846793005UL + 1442695040888963407UL;
			if ((seed >> 33) % 10 >= owners[o].keep)
				free(owners[o].objects[i]);
		}
	mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
	print_classes();
	fflush(stdout);
	fclose(fopen("ready", "w"));
	for (;;)
		pause();
}
