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

static bool sink_close(struct sink *sink)
{
	if (!sink->path || !sink->file)
		return !sink->path || !sink->error;
	if (fclose(sink->file) && !sink->error)
		sink->error = errno;
	return !sink->error;
}

/* Why there is nothing to see. */
static bool explain_empty(const struct jprof_profile *profile, const struct options *o)
{
	if (jprof_profile_total(profile, o->counter) != 0)
		return false;
	if (o->base || o->diff_base)
		say("nothing changed between the dumps");
	else if (o->counter == JPROF_ALLOC_SPACE || o->counter == JPROF_ALLOC_OBJECTS)
		say("no allocations are recorded: that needs MALLOC_CONF=prof_accum:true in the process");
	else
		say("the dump holds no samples: nothing was in use, or less than one sample's worth (lg_prof_sample)");
	return true;
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

static int report(const struct jprof_profile *profile, const struct options *o, const struct inputs *inputs,
                  double base_total)
{
	struct jprof_error err;
	struct jprof_view_opts view = {
		.size = sizeof view,
		.counter = o->counter,
		.granularity = o->granularity,
		.cum = o->cum,
		.show_bytes = o->show_bytes,
		.full_names = o->full_names,
		.top = o->top,
		.percent_of = o->diff_base ? base_total : 0,
		.normalize = o->normalize,
	};
	bool empty = explain_empty(profile, o);
	if (!empty)
		tell_coverage(profile, o, inputs);
	struct sink sink = { .path = o->output };
	int rc = jprof_render(profile, o->mode == REPORT_PROTO ? "proto" : "text", &view, write_out, &sink, &err);
	bool written = sink_close(&sink);
	if (!written)
		say("%s: cannot be written: %s", o->output, strerror(sink.error));
	else if (rc && rc != JPROF_E_WRITE)
		say_error(&err);
	return !written || rc || (empty && !o->base && !o->diff_base);
}

static bool can_write(const struct options *o)
{
	if (o->mode != REPORT_PROTO || o->output || !isatty(STDOUT_FILENO))
		return true;
	say("--proto writes binary data, which is nothing for a terminal; give -o FILE");
	return false;
}

int cmd_report(const struct options *o)
{
	struct inputs inputs;
	double base_total;
	int status = 1;
	if (!can_write(o))
		return 1;
	if (inputs_find(&inputs, o)) {
		struct jprof_profile *profile = load_profile(&inputs, o, &base_total);
		if (profile)
			status = report(profile, o, &inputs, base_total);
		jprof_profile_free(profile);
	}
	free(inputs.program);
	return status;
}
