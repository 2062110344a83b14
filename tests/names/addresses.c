/* addresses DUMP SYSROOT
 * Prints what the library finds at every address of a dump, before anything is folded away:
 *   ADDRESS SOURCE, then, innermost first, NAME FILE LINE ...; parted by tabs
 * with the linker's names, the source as in enum jprof_source, and "" and 0 for no file and line. */
#include <stdio.h>

#include "model/profile.h"

static void put_location(const struct jprof_profile *p, const struct jp_location *l)
{
	printf("%016llx\t%d", (unsigned long long)l->address, (int)l->source);
	for (uint32_t i = 0; i < l->frame_count; i++) {
		const struct jp_frame *frame = &p->frames[l->frame_first + i];
		const struct jp_function *f = &p->functions[frame->function];
		printf("\t%s\t%s\t%u", jp_string(p, f->system), f->file == JP_NONE ? "" : jp_string(p, f->file),
		       frame->line);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = argc > 2 ? argv[2] : NULL };
	struct jprof_error err;
	struct jprof_dump *dump;
	struct jprof_profile *profile;
	if (argc != 3) {
		fprintf(stderr, "usage: addresses DUMP SYSROOT\n");
		return 2;
	}
	if (jprof_dump_open(argv[1], &dump, &err) || jprof_profile_new(dump, NULL, &profile, &err) ||
	    jprof_profile_symbolize(profile, &opts, &err)) {
		fprintf(stderr, "%s: %s\n", err.path, err.text);
		return 2;
	}
	for (uint32_t i = 0; i < jp_location_count(profile); i++)
		put_location(profile, &profile->locations[i]);
	jprof_profile_free(profile);
	jprof_dump_free(dump);
	return 0;
}
