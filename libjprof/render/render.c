#include "render/render.h"

#include <string.h>

#include "base/error.h"
#include "base/opts.h"

static const struct {
	const char *format;
	jp_render_fn *render;
} renderers[] = {
	{ "text", jp_render_text }, { "collapsed", jp_render_collapsed }, { "proto", jp_render_proto },
	{ "raw", jp_render_raw },   { "callgrind", jp_render_callgrind }, { "disasm", jp_render_disasm },
	{ "list", jp_render_list }, { "peek", jp_render_peek },           { "traces", jp_render_traces },
	{ "tree", jp_render_tree },
};

bool jp_in_view(const struct jprof_profile *profile, const struct jprof_view_opts *opts, const struct jp_sample *sample)
{
	return !opts->thread || !strcmp(jp_string(profile, sample->thread), opts->thread);
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
