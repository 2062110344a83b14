/* jprof [OPTIONS] [PROGRAM] DUMP...: a report on standard output. */
#include "report/cmd_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/duration.h"
#include "cli/filename.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "cli/wholefile.h"
#include "commands.h"
#include "report/allformats.h"
#include "report/cmd_graph.h"
#include "report/fitlines.h"
#include "report/load.h"
#include "report/missing.h"
#include "report/order.h"
#include "report/outside.h"
#include "report/overwrite.h"
#include "report/screenful.h"

enum { piece = 1 << 14 };

volatile sig_atomic_t report_stop;

/* In pieces, so that it can be stopped. */
static int write_pieces(void *context, const void *data, size_t len)
{
	struct sink *sink = context;
	const char *at = data;
	while (len && !report_stop) {
		size_t n = len < piece ? len : piece;
		if (sink_write(sink, at, n))
			return -1;
		at += n;
		len -= n;
	}
	if (report_stop)
		sink->failed = true;
	return report_stop ? -1 : 0;
}

static bool can_write(const struct options *o)
{
	if (!format_find(o->output)->binary || o->file || !isatty(STDOUT_FILENO))
		return true;
	say("--%s writes binary data, which a terminal cannot show; give -o FILE", o->output);
	return false;
}

enum { patterns_most = 80 };

/* The filters that were given, before each of them `dashes`: "--focus, --tag"; "": none. */
static const char *given_filters(const struct options *o, const char *dashes, char names[patterns_most])
{
	const struct {
		const char *name;
		bool given;
	} all[] = { { "focus", o->focus || o->also_focus },
		    { "ignore", o->ignore || o->also_ignore },
		    { "retain", o->retain },
		    { "exclude", o->exclude },
		    { "tag", o->tag },
		    { "older", o->older },
		    { "newer", o->newer } };
	size_t len = 0;
	*names = '\0';
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].given)
			len += (size_t)snprintf(names + len, patterns_most - len, "%s%s%s", len ? ", " : "", dashes,
			                        all[i].name);
	return names;
}

static bool has_pattern(const struct options *o)
{
	return o->focus || o->also_focus || o->ignore || o->also_ignore || o->retain || o->exclude || o->tag;
}

static bool has_filter(const struct options *o)
{
	return has_pattern(o) || o->older || o->newer;
}

/* Why there is nothing to see. */
static void explain_empty(const struct loaded *l, const struct jprof_view *view, const struct options *o)
{
	char names[patterns_most];
	if (jprof_view_info(view)->total != 0 && (o->older || o->newer))
		say("nothing is so old, or left by other filters");
	else if (jprof_view_info(view)->total != 0 && has_pattern(o))
		say("no stack is left by %s", given_filters(o, "--", names));
	else if (o->base || o->diff_base)
		say("nothing changed between the dumps");
	else if (o->counter == JPROF_ALLOC_SPACE || o->counter == JPROF_ALLOC_OBJECTS)
		say("no allocations are recorded: that needs prof_accum:true in the process, which jprof run --alloc sets");
	else if (!l->warned)
		say("the dump holds no samples: nothing was in use, or less than one sample's worth (lg_prof_sample)");
}

/* Only where it matters. */
static void report_cut(const struct jprof_profile *profile, const struct options *o)
{
	static const double matters = 0.05;
	double share = jprof_profile_cut(profile, o->counter);
	if (share > matters && !o->as_jeprof)
		say("%.1f %% of the bytes have stacks that jemalloc cut at its limit of frames: their outermost callers are "
		    "missing",
		    share * 100);
}

static void report_bound(const struct jprof_profile *profile, const struct options *o)
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

/* The dump of the only member that is asked for. */
static void read_member(const char *path, const char *member, char **bytes, size_t *size)
{
	struct jprof_bundle *bundle;
	if (shortage_note_code(jprof_bundle_open(path, &bundle, NULL)))
		return;
	const void *dump = jprof_bundle_file(bundle, jprof_bundle_find(bundle, member, 0), "dump.heap", size);
	*bytes = shortage_note(malloc(*size + 1));
	if (*bytes)
		memcpy(*bytes, dump, *size);
	jprof_bundle_free(bundle);
}

/* The dump itself, for --raw, where the profile is nothing but that: then readers find all of it. */
static void read_source(const struct loaded *l, const struct options *o, const struct inputs *inputs,
                        struct jprof_report_opts *report, char **bytes)
{
	const struct jprof_profile_info *info = jprof_profile_info(l->profile);
	bool whole = info->inputs == 1 && !o->base && !o->diff_base && !o->thread && !has_filter(o);
	size_t size = 0;
	if (!whole || !format_find(o->output)->source || !strcmp(inputs->dumps[0], "-"))
		return;
	if (*info->members)
		read_member(inputs->dumps[0], o->member, bytes, &size);
	else
		*bytes = file_whole(inputs->dumps[0], SIZE_MAX, &size);
	if (*bytes && is_plain_dump(*bytes, size)) {
		report->source = *bytes;
		report->source_len = size;
	}
}

static int render_view(const struct jprof_view *view, const struct options *o, const struct jprof_report_opts *opts,
                       struct sink *sink)
{
	struct jprof_error err;
	struct fitlines fit = { .write = write_pieces, .context = sink, .columns = terminal_size().columns };
	bool fits =
	    !o->as_jeprof && options_screen(o) && options_form(o) == FORM_OTHER && format_find(o->output)->for_people;
	int rc =
	    jprof_render(view, o->output, opts, fits ? fitlines_write : write_pieces, fits ? (void *)&fit : sink, &err);
	if (!fitlines_end(&fit) && !rc)
		rc = JPROF_E_WRITE;
	if (rc && rc != JPROF_E_WRITE) /* the sink's own trouble is told when it is closed */
		say_error(&err);
	if (rc || sink_write(sink, "", 0)) /* an empty report is one, too */
		sink->failed = true;
	return rc ? 1 : 0;
}

/* Whether the report is the table for a terminal. */
static bool is_screen(const struct options *o)
{
	return !o->as_jeprof && options_form(o) == FORM_TEXT && options_screen(o);
}

/* One view's table: on a terminal with what stands over and under it. */
static int render_table(const struct loaded *l, const struct jprof_view *view, const struct options *o,
                        const struct inputs *inputs, size_t parts, const struct jprof_report_opts *given,
                        struct sink *sink)
{
	struct jprof_report_opts opts = *given;
	struct screenful screenful;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) outside = { 0 };
	if (!is_screen(o) || !jprof_view_info(view)->rows)
		return render_view(view, o, &opts, sink);
	if (!parts && !o->quiet)
		outside_notes(l, &outside);
	int status = 1;
	if (screenful_plan(&screenful, l, view, o, inputs, parts, shortage_text(&outside))) {
		opts.top = screenful.top;
		sink_write(sink, screenful.over, strlen(screenful.over));
		status = render_view(view, o, &opts, sink);
		sink_write(sink, screenful.under, strlen(screenful.under));
	}
	screenful_release(&screenful);
	return status;
}

/* --thread=*: each thread in turn. */
static int render_threads(const struct loaded *l, const struct jprof_view *view, const struct options *o,
                          const struct inputs *inputs, struct sink *sink)
{
	const struct jprof_report_opts opts = options_report(o);
	struct jprof_error err;
	int status = 0;
	for (size_t i = 0; !status && i < jprof_view_threads(view); i++) {
		struct jprof_view *part;
		if (jprof_view_thread(view, i, &part, &err)) {
			say_error(&err);
			return 1;
		}
		status = render_table(l, part, o, inputs, jprof_view_threads(view), &opts, sink);
		jprof_view_free(part);
	}
	return status;
}

/* How many rows of a difference may be accused by chance. */
static void report_chance(const struct jprof_view *view, const struct loaded *l, const struct options *o)
{
	enum { wrong_one_in = 20, least_rows = 10 };
	struct jprof_table *table;
	size_t rows = 0;
	if (!o->errors || !l->difference || jprof_table_new(view, NULL, &table, NULL))
		return;
	for (size_t i = 0; i < jprof_table_count(table); i++)
		rows += jprof_table_at(table, i)->flat_range.error > 0;
	jprof_table_free(table);
	if (rows >= least_rows)
		say("of %zu rows about %zu may be accused by chance: an interval holds the truth in 95 %% of cases",
		    rows, (rows + wrong_one_in / 2) / wrong_one_in);
}

/* What filters keep, where that is not all: shares are of it. */
static void report_kept(const struct jprof_view *view, const struct options *o)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	char names[patterns_most];
	bool bytes = o->counter == JPROF_INUSE_SPACE || o->counter == JPROF_ALLOC_SPACE;
	given_filters(o, "", names);
	if (o->as_jeprof || !has_filter(o) || info->flat == info->total)
		return;
	if (bytes)
		say("%.1f of %.1f MB kept by %s", info->flat / 1048576, info->total / 1048576, names);
	else
		say("%.0f of %.0f objects kept by %s", trunc(info->flat), trunc(info->total), names);
}

/* Where it is not the border that was asked for. */
static void report_border(const char *option, const char *asked, uint64_t asked_ms, uint64_t border_ms)
{
	char border[duration_size], wanted[duration_size];
	if (asked && strcmp(duration_words(border_ms, border), duration_words(asked_ms, wanted)) != 0)
		say("--%s=%s: ages are known in steps; the nearest border is that of %s", option, asked, border);
}

/* The row of what Ruby to 3.2 has moved, where it matters: what to do next. */
static void report_no_creator(const struct loaded *l, const struct jprof_view *view)
{
	static const double matters = 0.02;
	const struct jprof_view_info *info = jprof_view_info(view);
	double least = matters * fabs(info->percent_of != 0 ? info->percent_of : info->total);
	struct jprof_table *table;
	if (!jprof_profile_info(l->profile)->has_ruby || jprof_table_new(view, NULL, &table, NULL))
		return;
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		if (fabs(row->flat) >= least && !strcmp(row->name, JPROF_NO_CREATOR))
			say("creator not known: Ruby to 3.2 moves small arrays and hashes after a GC; Ruby 3.3 or later "
			    "shows the lines that make them");
	}
	jprof_table_free(table);
}

/* What is to be known of a report before it comes. */
static void remark_before(const struct loaded *l, const struct jprof_view *view, const struct options *o)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	if (!o->quiet) {
		report_border("older", o->older, o->older_ms, info->older);
		report_border("newer", o->newer, o->newer_ms, info->newer);
	}
	if (!info->rows)
		explain_empty(l, view, o);
	else
		report_kept(view, o);
	if (info->rows && !o->quiet) {
		report_cut(l->profile, o);
		report_bound(l->profile, o);
		report_no_creator(l, view);
		report_chance(view, l, o);
	}
}

/* What is to be known after it, where it is not part of a screen: memory that the profile does not have, and what lacks
 * names. */
static void remark_after(const struct loaded *l, const struct jprof_view *view, const struct options *o,
                         const struct inputs *inputs)
{
	char text[missing_most];
	struct jp_strbuf jp_cleanup(jp_strbuf_release) outside = { 0 };
	const struct jprof_format *format = format_find(o->output);
	bool rows = jprof_view_info(view)->rows;
	if (o->quiet || (rows && is_screen(o) && !jprof_view_threads(view)))
		return;
	if (!o->as_jeprof && !format->errors)
		outside_line(l, false, &outside);
	const char *beside = shortage_text(&outside);
	if (*beside)
		say("%s", beside);
	if (rows && !l->warned && missing_names(view, o, inputs, options_report(o).top, text))
		say("%s", text);
}

/* A pattern that leaves nothing of a dump is wrong more often than it is an answer. A difference may well be empty, and
 * jeprof's report is one in any case. */
static bool leaves_nothing(const struct jprof_view_info *info, const struct options *o)
{
	bool difference = o->base || o->diff_base;
	return !info->rows && !difference && (info->total == 0 || (has_pattern(o) && !o->as_jeprof));
}

static int report(const struct loaded *l, const struct jprof_view *view, const struct options *o,
                  const struct inputs *inputs, struct sink *sink)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	struct jprof_report_opts opts = options_report(o);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) total_of = { 0 };
	char *source = NULL;
	outside_total_of(l, &total_of);
	opts.total_of = total_of.len ? shortage_text(&total_of) : NULL;
	if (format_picture(o->output))
		return info->rows ? graph_report(l, view, o, inputs, sink) : 1;
	if (jprof_view_threads(view) && format_find(o->output)->by_thread)
		return render_threads(l, view, o, inputs, sink);
	read_source(l, o, inputs, &opts, &source);
	int status = render_table(l, view, o, inputs, 0, &opts, sink);
	free(source);
	return status ? status : leaves_nothing(info, o);
}

int report_show(const struct loaded *l, const struct options *o, const struct inputs *inputs)
{
	struct sink sink = { .path = o->file };
	bool good = can_write(o) && overwrites_no_input(o, inputs) && filename_fits(o->file, o->output);
	struct jprof_view *view = good ? load_view(l, o) : NULL;
	int status = 1;
	if (view) {
		remark_before(l, view, o);
		status = report(l, view, o, inputs, &sink);
	}
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o->file, sink.why);
		status = 1;
	}
	if (view && !status)
		remark_after(l, view, o, inputs);
	jprof_view_free(view);
	return status;
}

/* The table alone, without errors or a report for each thread, needs no names for what has none. */
static bool can_be_lean(const struct options *o)
{
	return options_form(o) == FORM_TEXT && !o->errors && !o->mean && !o->ages && !options_report(o).called_by &&
	       !options_report(o).freed && !(o->thread && !strcmp(o->thread, "*"));
}

int cmd_report(const struct options *given)
{
	struct options own = *given;
	const struct options *o = &own;
	own.lean = can_be_lean(given);
	struct inputs inputs;
	struct loaded loaded;
	int status = 1;
	say_at_end();
	if (!can_write(o))
		return 1;
	if (inputs_find(&inputs, o) && overwrites_no_input(o, &inputs) && filename_fits(o->file, o->output) &&
	    order_base(inputs.dumps, inputs.dump_count, &own) && load_profile(&loaded, &inputs, o)) {
		status = report_show(&loaded, o, &inputs);
		loaded_free(&loaded);
	}
	free(inputs.program);
	return status;
}
