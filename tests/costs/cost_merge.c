/* Adding up n processes, each of which has the same files mapped at addresses of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "cost.h"
#include "jprof.h"

enum { files = 20 };

static struct jprof_profile *process(unsigned number)
{
	char *text = NULL;
	size_t len;
	struct jprof_dump *dump;
	struct jprof_profile *profile;
	FILE *out = open_memstream(&text, &len);
	unsigned long long base = 0x700000000000 + number * 0x10000000ULL;
	fprintf(out, "heap_v2/524288\n  t*: 20: 1048576 [0: 0]\n");
	for (unsigned i = 0; i < files; i++)
		fprintf(out, "@ 0x%llx 0x%llx\n  t*: 1: 52428 [0: 0]\n", base + i * 0x10000 + 0x1010,
		        base + (i + 1) % files * 0x10000 + 0x1020);
	fprintf(out, "\nMAPPED_LIBRARIES:\n");
	for (unsigned i = 0; i < files; i++)
		fprintf(out, "%llx-%llx r-xp 00001000 fe:01 %u /lib%u.so\n", base + i * 0x10000 + 0x1000,
		        base + i * 0x10000 + 0x3000, i + 1, i);
	fclose(out);
	int rc = jprof_dump_parse(text, len, NULL, &dump, NULL);
	if (!rc)
		rc = jprof_profile_new(dump, NULL, &profile, NULL);
	if (rc)
		abort();
	jprof_dump_free(dump);
	free(text);
	return profile;
}

static uint64_t merge(unsigned n)
{
	struct jprof_profile *sum = process(0);
	uint64_t cost = 0;
	for (unsigned i = 1; i < n; i++) {
		struct jprof_profile *one = process(i);
		uint64_t before = cost_taken();
		if (jprof_profile_add(sum, one, NULL))
			abort();
		cost += cost_taken() - before;
		jprof_profile_free(one);
	}
	if (jprof_profile_stacks(sum) != files)
		abort();
	jprof_profile_free(sum);
	return cost;
}

int main(void)
{
	return cost_compare("merging processes of different layouts", merge, 30);
}
