/* jprof diff [PROGRAM] FIRST [BETWEEN...] LAST: what grew. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/diff_json.h"
#include "cli/budget.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "cli/terminal.h"
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

static bool report_diff(const struct loaded_series *loaded, const struct diff_options *o, struct sink *sink)
{
	bool screen = options_screen(&o->common);
	struct diff_report report = {
		.loaded = loaded, .options = o, .columns = 80, .measure = diff_measure(loaded->series)
	};
	if (screen) {
		struct terminal_size size = terminal_size();
		report.columns = size.columns;
		report.lines = size.lines ? size.lines : 24;
	}
	report.colour = options_report(&o->common).colour;
	return put_diff(&report, sink);
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
	struct sink sink = { .path = o.common.file };
	o.common.command = "diff";
	bool good = inputs_find(&inputs, &o.common) && overwrites_no_input(&o.common, &inputs) &&
	            series_load(&loaded, &inputs, &o) && report_diff(&loaded, &o, &sink);
	sink.failed = sink.failed || !good;
	series_release(&loaded);
	free(inputs.program);
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o.common.file, sink.why);
		good = false;
	}
	return good ? 0 : 1;
}
