/* jprof explain [PROGRAM] SNAPSHOT, or EARLIER LATER, or a PID: where the memory of processes is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_text.h"
#include "answers/explain_copied.h"
#include "answers/explain_json.h"
#include "answers/explain_live.h"
#include "answers/explain_text.h"
#include "answers/lostlines.h"
#include "answers/page.h"
#include "answers/rubylines.h"
#include "answers/rulesfile.h"
#include "cli/filename.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "cli/thrift.h"
#include "commands.h"
#include "report/headline.h"
#include "report/load.h"
#include "report/nextstep.h"
#include "report/order.h"
#include "report/overwrite.h"
#include "report/servicename.h"

enum { most_explain_columns = 100 };

/* The snapshots: the later one, and its difference to the earlier one if there is one. */
struct snapshots {
	struct loaded now, change;
};

static bool load_one_of(struct loaded *loaded, const struct inputs *inputs, const struct options *given,
                        const char *earlier)
{
	struct options o = *given;
	struct inputs last = { .program = inputs->program,
		               .from_path = inputs->from_path,
		               .dumps = inputs->dumps + inputs->dump_count - 1,
		               .dump_count = 1,
		               .live = inputs->live,
		               .live_count = inputs->live_count };
	o.diff_base = earlier;
	o.quiet = !earlier && inputs->dump_count > 1;
	o.unreachable = false;
	o.heap = HEAP_MALLOC; /* Ruby's own heap is counted, and has rows of its own */
	return load_profile(loaded, &last, &o);
}

static bool load_snapshots(struct snapshots *s, const struct inputs *inputs, const struct options *o)
{
	*s = (struct snapshots){ 0 };
	if (inputs->dump_count > 2 || o->base || o->diff_base) {
		say("explain takes one snapshot, or two: the earlier one and the later one");
		return false;
	}
	if (inputs->dump_count == 2 && !order_series(inputs->dumps, inputs->dump_count))
		return false;
	if (inputs->dump_count == 2 && !load_one_of(&s->change, inputs, o, inputs->dumps[0]))
		return false;
	return load_one_of(&s->now, inputs, o, NULL);
}

static void put_explain_next(FILE *to, const struct explained *what)
{
	if (*what->next)
		fprintf(to, "\nNext:  %s\n", what->next);
}

static void put_with_thrift(FILE *to, const void *context, unsigned thrift)
{
	const struct explained *what = context;
	unsigned columns = terminal_size().columns;
	struct answer answer = { 0 };
	explain_answer(&answer, what);
	answer_put_some(to, &answer, columns < most_explain_columns ? columns : most_explain_columns, thrift);
	fputs(answer_gives(&answer, thrift) ? "... more: --top=0\n" : "", to);
	answer_release(&answer);
	put_explain_next(to, what);
}

static void put_whole(FILE *to, const struct explained *what)
{
	struct answer answer = { 0 };
	explain_answer(&answer, what);
	answer_put_text(to, &answer, explain_columns);
	answer_release(&answer);
	put_explain_next(to, what);
}

/* What is printed, as a whole; false: memory is short. */
static bool put_explained(const struct explained *what, const struct options *o, struct sink *sink)
{
	bool json = !strcmp(o->output, "json"), screen = options_screen(o) && o->top == TOP_FITS;
	struct sink_text text;
	sink_text_open(&text);
	if (text.file && json)
		explain_put_json(text.file, what);
	else if (text.file && screen)
		thrift_put(text.file, thrift_lines(terminal_size().lines), answer_gives_most, put_with_thrift, what);
	else if (text.file)
		put_whole(text.file, what);
	return sink_text_write(&text, sink);
}

/* Of which gem the compiled code of a Ruby is, where it is a tenth of live memory or more; only its lines tell. */
static void gems_of_code(struct typed *command, const struct jprof_profile *profile, const struct options *o,
                         const struct jprof_explanation *e, const char *path)
{
	static const double least = 0.1;
	const struct jprof_explained *row;
	bool much = false;
	for (size_t i = 0; (row = jprof_explain_at(e, i)); i++)
		much = much || (row->part == JPROF_PART_GROUP && !strcmp(row->name, "compiled code") &&
		                row->bytes >= least * jprof_profile_total(profile, JPROF_INUSE_SPACE));
	if (!much || !jprof_profile_info(profile)->has_ruby)
		return;
	typed_add(command, "jprof --libs '--focus=group:compiled code'");
	next_step_lookup(command, o);
	typed_word(command, path);
}

/* What jprof diff says of the two, on one line: *answer, for free(), or NULL: there are no two of one program. */
static bool answer_of(const struct loaded *change, const struct options *o, char **answer)
{
	const struct diff_options opts = { .common = *o, .by = BY_USUAL, .may_group = true };
	struct loaded_series loaded;
	*answer = NULL;
	if (!change->profile)
		return true;
	bool good = series_of_difference(&loaded, change, &opts);
	const struct diff_report report = { .loaded = &loaded,
		                            .options = &opts,
		                            .measure = good ? diff_measure(loaded.series) : (struct measure){ 0 } };
	if (good && jprof_series_info(loaded.series)->same_program) {
		struct jp_strbuf text = { 0 };
		diff_add_short(&text, &report);
		*answer = shortage_take(&text);
	}
	series_release(&loaded);
	return good;
}

/* Whose memory it is, and of what malloc gave the line with most, as a sentence. */
static void find_head(struct jp_strbuf *whose, struct jp_strbuf *biggest, const struct loaded *now,
                      const struct inputs *inputs, const struct options *given)
{
	struct options o = *given;
	struct jprof_view *view = NULL;
	const char *path = inputs->dumps[inputs->dump_count - 1];
	struct jprof_service service;
	o.granularity = ROWS_USUAL;
	if (*jprof_profile_info(now->profile)->format)
		view = load_view(now, &o);
	jprof_profile_service(now->profile, &service);
	if (view && jprof_view_info(view)->program)
		service.program = jprof_view_info(view)->program;
	whose_add(whose, &service, path);
	if (view)
		headline_add_biggest(biggest, view, &o);
	jprof_view_free(view);
}

/* Which lines have it, or grew. */
static void find_explain_next(struct typed *next, const struct inputs *inputs, const struct options *o)
{
	typed_add(next, inputs->dump_count > 1 ? "jprof diff" : "jprof");
	next_step_lookup(next, o);
	for (int i = 0; i < inputs->dump_count; i++)
		typed_word(next, inputs->dumps[i]);
}

/* What is asked for, and was not looked for. */
static void say_what_is_lost(const struct options *o, const struct jprof_profile *now,
                             const struct jprof_explain_info *info)
{
	if (o->granularity == ROWS_BY_REFERRER && !info->referrers)
		say("what points to the memory is not known: --by=referrer is for processes whose memory may be read, and for "
		    "their snapshots that were made with --referrers");
	if (o->unreachable && isnan(jprof_profile_figure(now, false, JPROF_FIGURE_UNREACHABLE)))
		say("to what no pointer leads is not known: --unreachable is for processes with jemalloc whose memory may be read, and "
		    "for their snapshots that were made with --unreachable");
}

/* Of one process, or a snapshot. */
static void find_lost_next(struct typed *next, const struct inputs *inputs, const struct explain_live *live)
{
	char pid[16];
	if (live->asked && jprof_processes_count(live->snap.list) != 1)
		return;
	if (live->asked)
		snprintf(pid, sizeof pid, "%d", jprof_processes_at(live->snap.list, 0)->pid);
	typed_add(next, "jprof explain --unreachable");
	typed_word(next, live->asked ? pid : inputs->dumps[inputs->dump_count - 1]);
}

/* NULL after having said what is wrong. */
static struct jprof_explanation *make_explanation(const struct snapshots *s, const struct options *o)
{
	struct jprof_explanation *explanation = NULL;
	struct jprof_error err;
	struct jprof_explain_opts opts = { .size = sizeof opts,
		                           .by_referrer = o->granularity == ROWS_BY_REFERRER,
		                           .unreachable = o->unreachable };
	char *rules;
	bool read = rules_load(o->rules, &rules, &opts.rules_len);
	opts.rules = rules;
	int rc = read ? jprof_explain_new(s->now.profile, s->change.profile, &opts, &explanation, &err) : JPROF_E_IO;
	free(rules);
	if (rc == JPROF_E_FORMAT)
		snprintf(err.path, sizeof err.path, "%s", o->rules);
	if (rc && rc != JPROF_E_IO)
		say_error(&err);
	return rc ? NULL : explanation;
}

static bool explain(const struct snapshots *s, const struct inputs *inputs, const struct explain_live *live,
                    const struct forks *forks, const struct lost_lines *lost, const struct options *o,
                    struct sink *sink)
{
	struct jprof_explanation *explanation = make_explanation(s, o);
	if (!explanation)
		return false;
	char *answer;
	bool good = answer_of(&s->change, o, &answer);
	struct typed lines = { 0 }, gems = { 0 };
	const struct jprof_explain_info *info = jprof_explain_info(explanation);
	say_what_is_lost(o, s->now.profile, info);
	ruby_lines_command(&lines, s->now.profile, info->ruby && !info->dumpless, info->title);
	if (!live->asked)
		gems_of_code(&gems, s->now.profile, o, explanation, inputs->dumps[inputs->dump_count - 1]);
	struct typed next = { 0 }, lost_next = { 0 };
	if (!live->asked)
		find_explain_next(&next, inputs, o);
	find_lost_next(&lost_next, inputs, live);
	struct jp_strbuf whose = { 0 }, biggest = { 0 };
	find_head(&whose, &biggest, &s->now, inputs, o);
	struct explained what = { .explanation = explanation,
		                  .whose = shortage_text(&whose),
		                  .biggest = shortage_text(&biggest),
		                  .path = live->asked ? live->title : inputs->dumps[inputs->dump_count - 1],
		                  .members = jprof_profile_info(s->now.profile)->members,
		                  .accumulated = jprof_profile_info(s->now.profile)->has_alloc,
		                  .unreachable = o->unreachable,
		                  .lost_lines = lost,
		                  .lists_lost = o->granularity == JPROF_BY_ADDRESS,
		                  .lost = shortage_text(&live->lost),
		                  .live = live->asked && !live->core,
		                  .ruby = live->ruby,
		                  .why = live->asked ? live->snap.why : "",
		                  .outside = live->asked ? live->outside : "",
		                  .refused = live->asked && live->refused,
		                  .remedy = live->asked ? live->remedy : "",
		                  .start = live->asked ? live->start : start_of_program(info->title),
		                  .answer = answer,
		                  .forks = forks,
		                  .next = next.failed ? "" : next.text,
		                  .lost_next = lost_next.failed ? "" : lost_next.text,
		                  .gems = gems.failed ? "" : gems.text,
		                  .lines = lines.failed ? "" : lines.text };
	const struct page page = { .options = o,
		                   .inputs = inputs,
		                   .loaded = s->change.profile ? &s->change : &s->now,
		                   .explained = &what,
		                   .explains = true };
	good = good && (!strcmp(o->output, "html") ? page_put(&page, sink) : put_explained(&what, o, sink));
	jprof_explain_free(explanation);
	jp_strbuf_release(&whose);
	jp_strbuf_release(&biggest);
	free(answer);
	return good;
}

/* The snapshots that the options name, and what is printed of them. */
static bool explain_all(const struct options *o, const struct explain_live *live, const struct forks *forks,
                        struct sink *sink)
{
	struct inputs inputs;
	struct snapshots snapshots = { 0 };
	struct lost_lines lost = { 0 };
	bool good = inputs_find(&inputs, o);
	const struct live_input snapped = {
		.name = live->name, .data = live->snap.bundle, .len = live->snap.len, .dumpless = !live->dumped
	};
	inputs.live = &snapped;
	inputs.live_count = live->asked;
	good = good && overwrites_no_input(o, &inputs) && filename_fits(o->file, o->output) &&
	       load_snapshots(&snapshots, &inputs, o) &&
	       (!o->unreachable || lost_lines_load(&lost, &snapshots.now, &inputs, o)) &&
	       explain(&snapshots, &inputs, live, forks, &lost, o, sink);
	lost_lines_free(&lost);
	loaded_free(&snapshots.now);
	loaded_free(&snapshots.change);
	free(inputs.program);
	return good;
}

int cmd_explain(const struct options *given)
{
	struct options o = *given;
	struct explain_live live = { 0 };
	if (strcmp(o.output, "text") != 0 && strcmp(o.output, "json") != 0 && strcmp(o.output, "html") != 0) {
		say("explain prints text, with --json JSON, with --html a page; --%s is for reports", o.output);
		return 1;
	}
	if (!strcmp(o.output, "html") && !page_possible(&o, o.granularity))
		return 1;
	bool json = !strcmp(o.output, "json");
	if (o.copied && (!strcmp(o.output, "html") || o.file || o.unreachable || o.gc)) {
		say("--copied prints text or JSON, and goes with no other question: leave out what else was asked for");
		return 1;
	}
	o.dumpless = true;
	say_at_end();
	struct sink sink = { .path = o.file };
	if (o.copied && !json)
		return page_end(&o, &sink, explain_copied(&o, &sink));
	struct forks *forks = o.copied || o.puma ? forks_find(&o, !o.copied) : NULL; /* before a dump writes anything */
	bool good = (forks || !o.copied) && explain_live_take(&live, &o);
	sink.path = o.file;
	good = good && explain_all(&o, &live, forks, &sink);
	explain_live_free(&live);
	forks_free(forks);
	return page_end(&o, &sink, good);
}
