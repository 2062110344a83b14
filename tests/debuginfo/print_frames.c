/* frames [--functions] [--OPTION=VALUE...] DUMP
 * Prints what the library finds at the innermost address of each stack, smallest first:
 *   SIZE FUNCTION FILE:LINE [in FUNCTION FILE:LINE ...]
 * with --functions: SIZE FUNCTION, the physical one. Then, if there are any:
 *   reason: why a file that named something did not name all
 *   note: a remark for the user */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

static const struct {
	const char *name;
	size_t at;
} options[] = {
	{ "--program=", offsetof(struct jprof_symbolize_opts, program) },
	{ "--sysroot=", offsetof(struct jprof_symbolize_opts, sysroot) },
	{ "--lib_prefix=", offsetof(struct jprof_symbolize_opts, lib_prefix) },
	{ "--add_lib=", offsetof(struct jprof_symbolize_opts, add_lib) },
	{ "--debug-dir=", offsetof(struct jprof_symbolize_opts, debug_dir) },
	{ "--perf-map=", offsetof(struct jprof_symbolize_opts, perf_map) },
};

struct found {
	double size;
	const struct jp_location *location;
};

static int by_size(const void *a, const void *b)
{
	double x = ((const struct found *)a)->size, y = ((const struct found *)b)->size;
	return (x > y) - (x < y);
}

static void print_location(const struct jprof_profile *p, const struct found *found, bool functions)
{
	const struct jp_location *l = found->location;
	printf("%.0f", found->size);
	for (uint32_t i = functions ? l->frame_count - 1 : 0; i < l->frame_count; i++) {
		const struct jp_frame *frame = &p->frames[l->frame_first + i];
		const struct jp_function *f = &p->functions[frame->function];
		printf(" %s", jp_string(p, f->system));
		if (!functions)
			printf(" %s:%u", f->file == JP_NONE ? "?" : jp_string(p, f->file), (unsigned)frame->line);
		if (i + 1 < l->frame_count)
			printf(" in");
	}
	printf("\n");
}

static void print_samples(const struct jprof_profile *p, bool functions)
{
	uint32_t count = jp_sample_count(p);
	struct found *all = calloc(count + 1, sizeof *all);
	for (uint32_t i = 0; all && i < count; i++) {
		size_t depth;
		const uint32_t *stack = jp_stack_get(p, p->samples.items[i].stack, &depth);
		all[i] = (struct found){ jprof_profile_value(p, i, JPROF_INUSE_SPACE), &p->locations[stack[0]] };
	}
	if (all)
		qsort(all, count, sizeof *all, by_size);
	for (uint32_t i = 0; all && i < count; i++)
		print_location(p, &all[i], functions);
	free(all);
}

static void print_remarks(const struct jprof_profile *p)
{
	struct jprof_coverage *coverage;
	struct jprof_view_opts opts = { .size = sizeof opts, .counter = JPROF_INUSE_SPACE, .fold = JPROF_FOLD_RAW };
	struct jprof_view *view;
	if (jprof_view_new(p, &opts, &view, NULL))
		return;
	int rc = jprof_coverage_new(view, &coverage, NULL);
	jprof_view_free(view);
	if (rc)
		return;
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		if (*jprof_coverage_at(coverage, i)->reason)
			printf("reason: %s\n", jprof_coverage_at(coverage, i)->reason);
	jprof_coverage_free(coverage);
	for (size_t i = 0; i < jprof_profile_notes(p); i++)
		printf("note: %s\n", jprof_profile_note(p, i));
}

static bool parse(int argc, char **argv, struct jprof_symbolize_opts *opts, bool *functions)
{
	for (int i = 1; i < argc - 1; i++) {
		size_t k = 0;
		while (k < sizeof options / sizeof *options &&
		       strncmp(argv[i], options[k].name, strlen(options[k].name)))
			k++;
		if (k < sizeof options / sizeof *options)
			*(const char **)(void *)((char *)opts + options[k].at) = argv[i] + strlen(options[k].name);
		else if (!strcmp(argv[i], "--functions"))
			*functions = true;
		else if (!strcmp(argv[i], "--debuginfod"))
			opts->debuginfod = true;
		else if (!strncmp(argv[i], "--pid=", 6))
			opts->perf_map_pid = strtoull(argv[i] + 6, NULL, 10);
		else
			return false;
	}
	return argc > 1;
}

int main(int argc, char **argv)
{
	struct jprof_symbolize_opts opts = { .size = sizeof opts };
	struct jprof_dump *dump = NULL;
	struct jprof_profile *profile = NULL;
	struct jprof_error err;
	bool functions = false;
	if (!parse(argc, argv, &opts, &functions)) {
		fprintf(stderr, "usage: frames [--functions] [--OPTION=VALUE...] DUMP\n");
		return 2;
	}
	int rc = jprof_dump_open(argv[argc - 1], &dump, &err);
	if (!rc)
		rc = jprof_profile_new(dump, NULL, &profile, &err);
	if (!rc)
		rc = jprof_profile_symbolize(profile, &opts, &err);
	if (rc) {
		printf("error: %s: %s\n", err.path, err.text);
	} else {
		print_samples(profile, functions);
		print_remarks(profile);
	}
	jprof_profile_free(profile);
	jprof_dump_free(dump);
	return rc ? 1 : 0;
}
