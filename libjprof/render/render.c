#include "render/render.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"

static const struct renderer {
	struct jprof_format format;
	jp_render_fn *render;
} renderers[] = {
	{ { .name = "text",
	    .help = "a table of flat and cumulative values (the default)",
	    .for_people = true,
	    .by_thread = true,
	    .sites = true },
	  jp_render_text },
	{ { .name = "collapsed", .help = "stacks for flame graphs: ROOT;...;LEAF VALUE" }, jp_render_collapsed },
	{ { .name = "raw", .help = "the dump with its names, readable without the program", .source = true },
	  jp_render_raw },
	{ { .name = "proto", .help = "a profile.proto, for pprof and tools like it: give -o FILE", .binary = true },
	  jp_render_proto },
	{ { .name = "tree",
	    .help = "what was called from where, from the roots on",
	    .for_people = true,
	    .by_thread = true,
	    .sites = true },
	  jp_render_tree },
	{ { .name = "peek",
	    .help = "callers and callees of functions that match",
	    .argument = "RE",
	    .for_people = true,
	    .sites = true },
	  jp_render_peek },
	{ { .name = "traces",
	    .help = "every stack with its value",
	    .for_people = true,
	    .by_thread = true,
	    .sites = true },
	  jp_render_traces },
	{ { .name = "sizes", .help = "a histogram of the sizes of objects", .for_people = true, .by_thread = true },
	  jp_render_sizes },
	{ { .name = "list",
	    .help = "source lines of functions that match, with values",
	    .argument = "RE",
	    .for_people = true,
	    .sites = true },
	  jp_render_list },
	{ { .name = "disasm", .help = "their machine code, with values", .argument = "RE", .for_people = true },
	  jp_render_disasm },
	{ { .name = "flame", .help = "a flame graph, as a picture (SVG): give -o FILE", .errors = true, .sites = true },
	  jp_render_flame },
	{ { .name = "html",
	    .help = "a page for a browser, to look into and to pass on: give -o FILE",
	    .errors = true,
	    .sites = true },
	  jp_render_html },
	{ { .name = "callgrind", .help = "for kcachegrind and callgrind_annotate: give -o FILE" },
	  jp_render_callgrind },
	{ { .name = "csv",
	    .help = "the table with errors, files and lines, for spreadsheets",
	    .errors = true,
	    .sites = true },
	  jp_render_csv },
	{ { .name = "json",
	    .help = "all that text and info show; man jprof-json has the schema",
	    .errors = true,
	    .sites = true },
	  jp_render_json },
	{ { .name = "speedscope", .help = "a profile for www.speedscope.app" }, jp_render_speedscope },
	{ { .name = "dhat", .help = "a profile for valgrind's dh_view.html" }, jp_render_dhat },
};

const struct jprof_format *jprof_format_at(size_t i)
{
	return i < jp_count(renderers) ? &renderers[i].format : NULL;
}

static const struct renderer *find_renderer(const char *format)
{
	for (size_t i = 0; i < jp_count(renderers); i++)
		if (!strcmp(renderers[i].format.name, format))
			return &renderers[i];
	return NULL;
}

const struct jprof_format *jprof_format_find(const char *name)
{
	const struct renderer *renderer = name ? find_renderer(name) : NULL;
	return renderer ? &renderer->format : NULL;
}

const char *const jp_counter_names[JPROF_COUNTERS] = {
	[JPROF_INUSE_OBJECTS] = "inuse_objects",
	[JPROF_INUSE_SPACE] = "inuse_space",
	[JPROF_ALLOC_OBJECTS] = "alloc_objects",
	[JPROF_ALLOC_SPACE] = "alloc_space",
};

const char *const jp_source_names[JPROF_SOURCES] = {
	[JPROF_SOURCE_NONE] = "none", [JPROF_SOURCE_FDE] = "fde",       [JPROF_SOURCE_REGISTERED] = "registered",
	[JPROF_SOURCE_PACK] = "pack", [JPROF_SOURCE_DYNSYM] = "dynsym", [JPROF_SOURCE_SYMTAB] = "symtab",
	[JPROF_SOURCE_JIT] = "jit",   [JPROF_SOURCE_DWARF] = "dwarf",   [JPROF_SOURCE_INPUT] = "input",
	[JPROF_SOURCE_RUBY] = "ruby",
};

double jp_whole(const struct jprof_view *view)
{
	return view->info.percent_of != 0 ? view->info.percent_of : view->info.flat;
}

double jp_whole_step(double *sum, double value)
{
	double before = trunc(*sum);
	*sum += value;
	return trunc(*sum) - before;
}

int jp_report_end(struct jp_strbuf *out, struct jprof_error *err)
{
	if (out->failed)
		return jp_error_nomem(err);
	jp_strbuf_flush(out);
	return out->refused ? jp_error(err, JPROF_E_WRITE, NULL, 0, "the report cannot be written") : 0;
}

/* What the view must have for the format. */
static int check_wants(const struct jprof_view *view, const struct renderer *renderer, struct jprof_error *err)
{
	const struct jprof_format *format = &renderer->format;
	if (view->code.lean && renderer->render != jp_render_text)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	if (format->errors && !view->info.errors)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "a report as %s shows how far numbers may be off: make the view with .errors = true",
		                format->name);
	return 0;
}

int jprof_render(const struct jprof_view *view, const char *format, const struct jprof_report_opts *given,
                 jprof_write_fn *write, void *context, struct jprof_error *err)
{
	if (jp_null(err, view, format) || (!write && jp_null(err, NULL)))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { .write = write, .context = context };
	struct jprof_report_opts opts;
	const struct renderer *renderer = find_renderer(format);
	if (!renderer)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "no such report format: %s", format);
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (!rc)
		rc = check_wants(view, renderer, err);
	if (!rc && view->code.lean && opts.called_by)
		rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	if (!rc)
		rc = renderer->render(view, &opts, &out, err);
	return rc ? rc : jp_report_end(&out, err);
}
