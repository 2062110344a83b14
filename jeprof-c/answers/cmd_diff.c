/* jprof diff [PROGRAM] FIRST [BETWEEN...] LAST: what grew. */
#include <stdio.h>
#include <stdlib.h>

#include "answers/born_snapshots.h"
#include "answers/born_text.h"
#include "answers/diff_json.h"
#include "answers/page.h"
#include "cli/budget.h"
#include "cli/filename.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "commands.h"
#include "report/overwrite.h"

/* What is printed, as a whole; false: memory is short. */
static bool put_diff(const struct diff_report *report, struct sink *sink)
{
	static void (*const puts_as[])(FILE *, const struct diff_report *) = {
		[AS_TEXT] = diff_put_text,
		[AS_JSON] = diff_put_json,
		[AS_CSV] = diff_put_csv,
		[AS_MARKDOWN] = diff_put_markdown,
	};
	struct sink_text text;
	sink_text_open(&text);
	if (text.file)
		puts_as[report->options->output](text.file, report);
	return sink_text_write(&text, sink);
}

/* The page of the last snapshot less the first, and of where all of the last one's memory is. */
static bool put_diff_page(const struct diff_report *report, const struct inputs *inputs, struct sink *sink)
{
	const struct options *common = &report->options->common;
	struct inputs last = { .program = inputs->program,
		               .from_path = inputs->from_path,
		               .dumps = inputs->dumps + inputs->dump_count - 1,
		               .dump_count = 1 };
	struct options plain = *common, change = *common;
	struct loaded now = { 0 }, whole = { 0 };
	change.diff_base = inputs->dumps[0];
	change.output = plain.output = "html";
	bool good = load_profile(&whole, &last, &change) && load_profile(&now, &last, &plain);
	if (good)
		change.granularity =
		    (int)series_granularity(report->loaded->by, jprof_profile_info(whole.profile)->has_ruby);
	const struct page page = { .options = &change,
		                   .inputs = &last,
		                   .snapshots = inputs,
		                   .loaded = &whole,
		                   .memory = &now,
		                   .diff = report };
	good = good && page_put(&page, sink);
	loaded_free(&whole);
	loaded_free(&now);
	return good;
}

static bool report_diff(const struct loaded_series *loaded, const struct diff_options *o, const struct inputs *inputs,
                        struct sink *sink)
{
	struct diff_report report;
	diff_report_open(&report, loaded, o, inputs);
	report.colour = options_report(&o->common).colour;
	if (o->output == AS_TEXT || o->output == AS_HTML)
		diff_find_workers(&report, inputs);
	bool good = o->output == AS_HTML ? put_diff_page(&report, inputs, sink) : put_diff(&report, sink);
	diff_report_close(&report);
	return good;
}

static bool diff_page_possible(const struct diff_options *o)
{
	if (!page_possible(&o->common, (int)series_granularity(o->by, false)))
		return false;
	const char *by = o->by == BY_STACK      ? "stack"
	                 : o->by == BY_SIZE     ? "size"
	                 : o->by == BY_REFERRER ? "referrer"
	                                        : NULL;
	if (!by)
		return true;
	say("a page has no rows by %s; leave that --by out with --html", by);
	return false;
}

/* Of dumps of ObjectSpace and graphs: which options have a meaning there. */
static bool diff_of_objects(const struct diff_options *o, struct sink *sink)
{
	static const size_t usual_diff_lines = 8;
	bool usual = o->common.top == TOP_FITS, fits = usual && options_screen(&o->common);
	size_t top = usual ? usual_diff_lines : o->common.top;
	char *const *paths = o->common.operands;
	size_t count = (size_t)o->common.operand_count;
	if (o->output == AS_TEXT)
		return born_is_wanted(paths, count)
		           ? born_put(paths, count, top, fits, sink)
		           : born_snapshots_put(paths, count, o->common.member, top, fits, sink);
	say("objects are compared as text alone");
	return false;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o;
	struct inputs inputs;
	struct loaded_series loaded = { 0 };
	if (!diff_options_parse(&o, false, argc, argv) || !budget_watch(o.common.max_memory))
		return 1;
	if (o.common.help) {
		diff_help();
		return 0;
	}
	if (o.common.open && o.output != AS_HTML) {
		say("--open is for --html");
		return 1;
	}
	say_at_end();
	o.common.command = "diff";
	o.common.dumpless = true;
	if (o.output == AS_HTML)
		o.common.top = 0; /* all rows: the page has them one way or the other, and each needs its verdict */
	if (o.output == AS_HTML && !diff_page_possible(&o))
		return 1;
	struct sink sink = { .path = o.common.file };
	if (o.objects || born_is_wanted(o.common.operands, (size_t)o.common.operand_count))
		return page_end(&o.common, &sink, diff_of_objects(&o, &sink));
	bool good = inputs_find(&inputs, &o.common) && overwrites_no_input(&o.common, &inputs) &&
	            filename_fits(o.common.file, diff_format(&o)) && series_load(&loaded, &inputs, &o) &&
	            report_diff(&loaded, &o, &inputs, &sink);
	series_release(&loaded);
	free(inputs.program);
	return page_end(&o.common, &sink, good);
}
