/* The main program of every subject: SUBJECT PREFIX [unlink]
 * Writes for all sites
 *   PREFIX.heap       a heap_v2 dump; each stack is an address in libc, then the site's return address
 *   PREFIX.bare.heap  the same; each stack is the site's address alone
 *   PREFIX.truth      lines of: ADDRESS BYTES OBJECT VADDR START FLAGS, then, innermost first,
 *                     FUNCTION FILE LINE ...; parted by tabs. The address is the one that is looked
 *                     up, in this process and in the file. START is that of the function in the
 *                     file, or 0
 * With `unlink` the program's own file is gone when the maps are written. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dumpfile.h"
#include "site.h"

enum { max_sites = 64, max_frames = 8, first_size = 1000, size_step = 17 };

static struct {
	uintptr_t address; /* that the call returns to */
	struct site frames[max_frames];
	int depth;
} sites[max_sites];

static int site_count;
static jmp_buf after_run;

static void note(const struct site *site, const void *address)
{
	if (site_count == max_sites)
		abort();
	sites[site_count].address = (uintptr_t)address;
	for (; site; site = site->outer) {
		if (sites[site_count].depth == max_frames)
			abort();
		sites[site_count].frames[sites[site_count].depth++] = *site;
	}
	site_count++;
}

NOINLINE void record(const struct site *site)
{
	note(site, __builtin_return_address(0));
}

void record_at(const struct site *site, const void *address)
{
	note(site, address);
}

NOINLINE void record_last(const struct site *site)
{
	note(site, __builtin_return_address(0));
	longjmp(after_run, 1);
}

static NOINLINE void host(void)
{
	HERE(host, 0);
}

/* The size of the i-th site's one object. At rate 1 scaling changes nothing: 1/(1-exp(-1000)) is 1. */
static int size_of(int i)
{
	return first_size + size_step * i;
}

/* The innermost address is looked up as it stands, all others less one. */
static void write_dump(FILE *to, const void *in_libc)
{
	long sum = 0;
	for (int i = 0; i < site_count; i++)
		sum += size_of(i);
	fprintf(to, "heap_v2/1\n  t*: %d: %ld [0: 0]\n  t0: %d: %ld [0: 0]\n", site_count, sum, site_count, sum);
	for (int i = 0; i < site_count; i++) {
		if (in_libc)
			fprintf(to, "@ %p %#" PRIxPTR, in_libc, sites[i].address);
		else
			fprintf(to, "@ %#" PRIxPTR, sites[i].address - 1);
		fprintf(to, "\n  t*: 1: %d [0: 0]\n  t0: 1: %d [0: 0]\n", size_of(i), size_of(i));
	}
	fprintf(to, "\nMAPPED_LIBRARIES:\n");
	copy_maps(to);
}

struct place {
	uintptr_t address;
	char path[4096];
	uintptr_t bias; /* address in memory less address in the file */
};

static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || place->address - info->dlpi_addr - ph->p_vaddr >= ph->p_memsz)
			continue;
		place->bias = info->dlpi_addr;
		if (*info->dlpi_name)
			snprintf(place->path, sizeof place->path, "%s", info->dlpi_name);
		else if (readlink("/proc/self/exe", place->path, sizeof place->path - 1) < 0)
			abort();
		return 1;
	}
	return 0;
}

static void write_truth(FILE *to)
{
	for (int i = 0; i < site_count; i++) {
		const struct site *function = &sites[i].frames[sites[i].depth - 1];
		struct place place = { .address = sites[i].address - 1 };
		if (!dl_iterate_phdr(find_object, &place))
			abort();
		uintptr_t start = function->start ? (uintptr_t)function->start - place.bias : 0;
		fprintf(to, "%" PRIxPTR "\t%d\t%s\t%" PRIxPTR "\t%" PRIxPTR "\t%d", place.address, size_of(i),
		        place.path, place.address - place.bias, start, function->flags);
		for (int k = 0; k < sites[i].depth; k++)
			fprintf(to, "\t%s\t%s\t%d", sites[i].frames[k].function, sites[i].frames[k].file,
			        sites[i].frames[k].line);
		fprintf(to, "\n");
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	host();
	if (!setjmp(after_run))
		subject_run();
	char self[4096] = "";
	FILE *truth = create(argv[1], "truth"), *dump = create(argv[1], "heap"), *bare = create(argv[1], "bare.heap");
	write_truth(truth);
	if (argc > 2 && (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || unlink(self)))
		abort();
	write_dump(dump, __builtin_return_address(0));
	write_dump(bare, NULL);
	close_checked(truth);
	close_checked(dump);
	close_checked(bare);
	return 0;
}
