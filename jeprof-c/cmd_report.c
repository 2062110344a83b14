/* jprof [OPTIONS] [PROGRAM] DUMP...: a report on standard output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "load.h"
#include "say.h"

/* Below this share of named bytes the user is told. */
static const double enough_named = 0.95;

enum { piece = 1 << 14 };

/* Standard output, or a file that is made when there is something to write. */
struct sink {
	const char *path; /* NULL: standard output */
	FILE *file;
	int error; /* errno of the path; main looks after standard output */
};

static int write_out(void *context, const void *data, size_t len)
{
	struct sink *sink = context;
	if (!sink->file)
		sink->file = sink->path ? fopen(sink->path, "we") : stdout;
	if (sink->file && fwrite(data, 1, len, sink->file) == len && !fflush(sink->file))
		return 0;
	sink->error = errno;
	return -1;
}

volatile sig_atomic_t report_stop;

/* In pieces, so that it can be stopped. */
static int write_pieces(void *context, const void *data, size_t len)
{
	struct sink *sink = context;
	const char *at = data;
	while (len && !report_stop) {
		size_t n = len < piece ? len : piece;
		if (write_out(sink, at, n))
			return -1;
		at += n;
		len -= n;
	}
	if (report_stop)
		sink->error = EINTR;
	return report_stop ? -1 : 0;
}

static bool sink_close(struct sink *sink)
{
	if (!sink->path || !sink->file)
		return !sink->path || !sink->error;
	if (fclose(sink->file) && !sink->error)
		sink->error = errno;
	return !sink->error;
}

static bool can_write(const struct options *o)
{
	if (strcmp(o->output, "proto") || o->file || !isatty(STDOUT_FILENO))
		return true;
	say("--proto writes binary data, which is nothing for a terminal; give -o FILE");
	return false;
}

static bool has_rows(const struct jprof_profile *profile, const struct jprof_view_opts *view)
{
	struct jprof_table *table;
	if (jprof_table_new(profile, view, &table, NULL))
		return true; /* rendering will say what is wrong */
	size_t rows = jprof_table_count(table);
	jprof_table_free(table);
	return rows;
}

static bool has_filter(const struct options *o)
{
	return o->focus || o->ignore || o->retain || o->exclude;
}

/* Why there is nothing to see. */
static void explain_empty(const struct loaded *l, const struct options *o)
{
	const struct jprof_profile *profile = l->profile;
	if (jprof_profile_total(profile, o->counter) != 0 && has_filter(o))
		say("no stack is left by --focus, --ignore, --retain and --exclude");
	else if (o->base || o->diff_base)
		say("nothing changed between the dumps");
	else if (o->counter == JPROF_ALLOC_SPACE || o->counter == JPROF_ALLOC_OBJECTS)
		say("no allocations are recorded: that needs MALLOC_CONF=prof_accum:true in the process");
	else if (!l->warned)
		say("the dump holds no samples: nothing was in use, or less than one sample's worth (lg_prof_sample)");
}

/* Without maps no address lies in a file; the dump's own warning has said that. */
static bool has_files(const struct jprof_coverage *coverage)
{
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		if (*jprof_coverage_at(coverage, i)->path)
			return true;
	return false;
}

static void tell_coverage(const struct jprof_profile *profile, const struct options *o, const struct inputs *inputs)
{
	struct jprof_coverage *coverage;
	if (jprof_coverage_new(profile, o->counter, &coverage, NULL))
		return;
	double named = jprof_coverage_named(coverage);
	if (named < enough_named && has_files(coverage))
		say("only %.0f %% of the bytes have a function's name; what is missing: jprof info %s", named * 100,
		    inputs->dumps[0]);
	jprof_coverage_free(coverage);
}

static void tell_bound(const struct jprof_profile *profile, const struct options *o)
{
	const char *why = jprof_profile_bound(profile, o->counter);
	if (o->errors && *why)
		say("%s", why);
}

/* A dump in text without names: such a one begins with a word, or with a % before it. */
static bool is_plain_dump(const char *bytes, size_t size)
{
	return size && (*bytes == 'h' || *bytes == '%') && jprof_dump_probe(bytes, size);
}

/* The dump itself, for --raw, where the profile is nothing but that: then readers find all of it. */
static void read_source(const struct options *o, const struct inputs *inputs, struct jprof_view_opts *view,
                        char **bytes)
{
	bool whole = inputs->dump_count == 1 && !o->base && !o->diff_base && !o->thread && !has_filter(o);
	FILE *file = !strcmp(o->output, "raw") && whole ? fopen(inputs->dumps[0], "re") : NULL;
	size_t size = 0;
	FILE *copy = file ? open_memstream(bytes, &size) : NULL;
	if (copy) {
		char chunk[4096];
		size_t n;
		while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
			fwrite(chunk, 1, n, copy);
		fclose(copy);
	}
	if (file)
		fclose(file);
	if (is_plain_dump(*bytes, size)) {
		view->source = *bytes;
		view->source_len = size;
	}
}

static int render(const struct jprof_profile *profile, const struct options *o, const struct jprof_view_opts *view,
                  struct sink *sink)
{
	struct jprof_error err;
	int rc = jprof_render(profile, o->output, view, write_pieces, sink, &err);
	if (rc && rc != JPROF_E_WRITE) /* the sink's own trouble is told when it is closed */
		say_error(&err);
	return rc ? 1 : 0;
}

/* --thread=*: each thread in turn. A label is "tN NAME"; jeprof's heading is tN. */
static int render_threads(const struct loaded *l, const struct options *o, struct jprof_view_opts *view,
                          struct sink *sink)
{
	int status = 0;
	for (size_t i = 0; !status && i < jprof_profile_threads(l->profile); i++) {
		const char *thread = jprof_profile_thread(l->profile, i);
		char label[32] = "";
		sscanf(thread, "%31s", label);
		view->thread = thread;
		view->label = label;
		view->percent_of =
		    o->diff_base && l->base ? jprof_profile_thread_total(l->base, o->counter, thread) : 0;
		status = render(l->profile, o, view, sink);
	}
	return status;
}

static int report(const struct loaded *l, const struct options *o, const struct inputs *inputs, struct sink *sink)
{
	char label[64], *source = NULL;
	struct jprof_view_opts view = {
		.size = sizeof view,
		.counter = o->counter,
		.granularity = o->granularity,
		.cum = o->cum,
		.show_bytes = o->show_bytes,
		.full_names = o->full_names,
		.top = o->top,
		.percent_of = o->diff_base && l->base ? jprof_profile_total(l->base, o->counter) : 0,
		.normalize = o->normalize,
		.errors = o->errors,
		.total = o->total,
		.pattern = o->pattern,
		.source_path = o->source_path,
		.trim_path = o->trim_path,
		.sysroot = o->sysroot,
	};
	view.thread = l->thread;
	if (l->thread && o->diff_base && l->base)
		view.percent_of = jprof_profile_thread_total(l->base, o->counter, l->thread);
	bool empty = !has_rows(l->profile, &view);
	if (empty)
		explain_empty(l, o);
	else if (o->granularity != JPROF_BY_LIBRARY && !l->warned && !o->quiet) /* libraries need no names */
		tell_coverage(l->profile, o, inputs);
	if (!empty && !o->quiet)
		tell_bound(l->profile, o);
	if (o->thread && !strcmp(o->thread, "*") && !strcmp(o->output, "text"))
		return render_threads(l, o, &view, sink);
	if (o->thread) {
		bool number = strspn(o->thread, "0123456789") == strlen(o->thread);
		snprintf(label, sizeof label, "%s%.60s", number ? "t" : "", o->thread);
		view.label = label;
	}
	read_source(o, inputs, &view, &source);
	int status = render(l->profile, o, &view, sink);
	free(source);
	bool nothing = empty && jprof_profile_total(l->profile, o->counter) == 0 && !o->base && !o->diff_base;
	return status ? status : nothing;
}

int report_show(const struct loaded *l, const struct options *o, const struct inputs *inputs)
{
	struct sink sink = { .path = o->file };
	int status = can_write(o) ? report(l, o, inputs, &sink) : 1;
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o->file, strerror(sink.error));
		status = 1;
	}
	return status;
}

int cmd_report(const struct options *o)
{
	struct inputs inputs;
	struct loaded loaded;
	int status = 1;
	if (!strcmp(o->output, "symbols"))
		return cmd_symbols(o);
	if (!strcmp(o->output, "interactive") || !strcmp(o->output, "i"))
		return cmd_interactive(o);
	if (!can_write(o))
		return 1;
	if (inputs_find(&inputs, o) && load_profile(&loaded, &inputs, o)) {
		status = report_show(&loaded, o, &inputs);
		loaded_free(&loaded);
	}
	free(inputs.program);
	return status;
}
