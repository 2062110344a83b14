#include "render/render.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"

static const struct {
	const char *format;
	jp_render_fn *render;
} renderers[] = {
	{ "text", jp_render_text },
	{ "collapsed", jp_render_collapsed },
	{ "proto", jp_render_proto },
	{ "raw", jp_render_raw },
	{ "csv", jp_render_csv },
	{ "dhat", jp_render_dhat },
	{ "diff-collapsed", jp_render_diff_collapsed },
	{ "json", jp_render_json },
	{ "json-info", jp_render_json_info },
	{ "speedscope", jp_render_speedscope },
	{ "callgrind", jp_render_callgrind },
	{ "disasm", jp_render_disasm },
	{ "list", jp_render_list },
	{ "peek", jp_render_peek },
	{ "traces", jp_render_traces },
	{ "tree", jp_render_tree },
};

bool jp_in_view(const struct jprof_profile *profile, const struct jprof_view_opts *opts, const struct jp_sample *sample)
{
	return !opts->thread || !strcmp(jp_string(profile, sample->thread), opts->thread);
}

const char *const jp_counter_names[JPROF_COUNTERS] = {
	[JPROF_INUSE_OBJECTS] = "inuse_objects",
	[JPROF_INUSE_SPACE] = "inuse_space",
	[JPROF_ALLOC_OBJECTS] = "alloc_objects",
	[JPROF_ALLOC_SPACE] = "alloc_space",
};

const char *const jp_source_names[JPROF_SOURCES] = {
	[JPROF_SOURCE_NONE] = "none",     [JPROF_SOURCE_FDE] = "fde", [JPROF_SOURCE_DYNSYM] = "dynsym",
	[JPROF_SOURCE_SYMTAB] = "symtab", [JPROF_SOURCE_JIT] = "jit", [JPROF_SOURCE_DWARF] = "dwarf",
	[JPROF_SOURCE_INPUT] = "input",
};

bool jp_counts_bytes(enum jprof_counter counter)
{
	return counter == JPROF_INUSE_SPACE || counter == JPROF_ALLOC_SPACE;
}

double jp_view_total(const struct jprof_profile *profile, const struct jprof_view_opts *opts)
{
	return opts->thread ? jprof_profile_thread_total(profile, opts->counter, opts->thread)
	                    : jprof_profile_total(profile, opts->counter);
}

double jp_base_total(const struct jprof_profile *profile, enum jprof_counter counter, const char *thread)
{
	double sum = 0;
	for (uint32_t i = 0; i < jp_sample_count(profile); i++)
		if (!thread || !strcmp(jp_string(profile, profile->samples[i].thread), thread))
			sum += jp_sample_less(&profile->samples[i])->base[counter];
	return sum;
}

struct jprof_view_opts jp_view_of_thread(const struct jprof_profile *profile, const struct jprof_view_opts *all,
                                         size_t thread)
{
	struct jprof_view_opts view = *all;
	view.thread = jp_string(profile, profile->threads[thread]);
	view.percent_of = all->percent_of != 0 ? jp_base_total(profile, all->counter, view.thread) : 0;
	return view;
}

double jp_whole_step(double *sum, double value)
{
	double before = floor(*sum);
	*sum += value;
	return floor(*sum) - before;
}

static jp_render_fn *find(const char *format)
{
	for (size_t i = 0; i < jp_count(renderers); i++)
		if (!strcmp(renderers[i].format, format))
			return renderers[i].render;
	return NULL;
}

int jprof_render(const struct jprof_profile *profile, const char *format, const struct jprof_view_opts *given,
                 jprof_write_fn *write, void *context, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { 0 };
	struct jprof_view_opts opts;
	jp_render_fn *render = find(format);
	if (!render)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "no such report format: %s", format);
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (!rc)
		rc = render(profile, &opts, &out, err);
	if (rc)
		return rc;
	if (out.failed)
		return jp_error_nomem(err);
	if (out.len && write(context, out.text, out.len))
		return jp_error(err, JPROF_E_WRITE, NULL, 0, "the report cannot be written");
	return 0;
}
