/* SUBJECT PREFIX: writes
 *   PREFIX.heap       a dump with one stack of one address for each site
 *   PREFIX.lines      what jprof must find with debug information, in the form of frames.c
 *   PREFIX.functions  with symbols alone
 *   PREFIX.jit.heap   a dump of three addresses in a mapping without a file
 *   PREFIX.map        the perf map that names two of them */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "dumpfile.h"
#include "subject.h"

enum { max_sites = 32, max_depth = 8, first_size = 1000, size_step = 17 };

static struct {
	uintptr_t address;
	struct site frames[max_depth];
	int depth;
} sites[max_sites];
static int site_count;

static struct shared_by_all example;

NOINLINE void note(const struct site *site)
{
	if (site_count == max_sites)
		abort();
	sites[site_count].address = (uintptr_t)__builtin_return_address(0) - 1;
	for (; site; site = site->outer)
		sites[site_count].frames[sites[site_count].depth++] = *site;
	site_count++;
}

ALWAYS void inner(const struct site *outer)
{
	AT(note, outer);
}

ALWAYS void middle(const struct site *outer)
{
	AT(inner, outer);
}

static NOINLINE void plain(void)
{
	AT(note, NULL);
	AT(note, NULL);
}

static NOINLINE void two_deep(void)
{
	AT(middle, NULL);
	AT(inlined_everywhere, NULL);
}

static int size_of(int i)
{
	return first_size + i * size_step;
}

/* At rate 1 sampling takes all, and scaling changes nothing. */
static void write_dump(FILE *to, const uintptr_t *addresses, int count)
{
	fprintf(to, "heap_v2/1\n  t*: 0: 0 [0: 0]\n  t0: 0: 0 [0: 0]\n");
	for (int i = 0; i < count; i++)
		fprintf(to, "@ %#" PRIxPTR "\n  t*: 1: %d [0: 0]\n  t0: 1: %d [0: 0]\n", addresses[i], size_of(i),
		        size_of(i));
	fprintf(to, "\nMAPPED_LIBRARIES:\n");
	copy_maps(to);
	close_checked(to);
}

static void write_sites(const char *prefix)
{
	uintptr_t addresses[max_sites];
	FILE *lines = create(prefix, "lines"), *functions = create(prefix, "functions");
	for (int i = 0; i < site_count; i++) {
		const struct site *f = sites[i].frames;
		addresses[i] = sites[i].address;
		fprintf(lines, "%d", size_of(i));
		for (int k = 0; k < sites[i].depth; k++)
			fprintf(lines, " %s %s:%d%s", f[k].function, f[k].file, f[k].line,
			        k + 1 < sites[i].depth ? " in" : "");
		fprintf(lines, "\n");
		fprintf(functions, "%d %s\n", size_of(i), f[sites[i].depth - 1].function);
	}
	close_checked(lines);
	close_checked(functions);
	write_dump(create(prefix, "heap"), addresses, site_count);
}

/* Three addresses: a name with blanks, one that a later entry took over, one in no entry. */
static void write_jit(const char *prefix)
{
	char *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		abort();
	uintptr_t at = (uintptr_t)code, addresses[] = { at + 0x10, at + 0x120, at + 0x9000 };
	FILE *map = create(prefix, "map");
	fprintf(map, "%" PRIxPTR " 100 LazyCompile:~Object#each app.rb:3\n", at);
	fprintf(map, "%" PRIxPTR " 1000 an old function\n%" PRIxPTR " 40 new_function\n", at + 0x100, at + 0x100);
	close_checked(map);
	write_dump(create(prefix, "jit.heap"), addresses, 3);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	example.value.as_struct.third_member_with_a_long_name = argc;
	plain();
	two_deep();
	part_run();
	write_sites(argv[1]);
	write_jit(argv[1]);
	return 0;
}
