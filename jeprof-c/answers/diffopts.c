#include "answers/diffopts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/optparse.h"

enum { FOR_DIFF = 1, FOR_CHECK = 2 };

#define DIFF_AT(member) offsetof(struct diff_options, member)
#define COMMON_AT(member) offsetof(struct diff_options, common.member)

#define HEADING(commands, text)                                                                                        \
	{                                                                                                              \
		"", OPT_HEADING, 0, (commands), NULL, NULL, (text)                                                     \
	}

/* clang-format off */
#define OUTPUT_ROWS \
	HEADING(FOR_DIFF, "What is printed"), \
	{ "json", OPT_CHOICE, DIFF_AT(output), AS_JSON, "output", NULL, "JSON; man jprof-json has the schema" }, \
	{ "csv", OPT_CHOICE, DIFF_AT(output), AS_CSV, "output", NULL, "a line for each row, below a head line" }, \
	{ "markdown", OPT_CHOICE, DIFF_AT(output), AS_MARKDOWN, "output", NULL, "for a ticket or a pull request" }, \
	{ "html", OPT_CHOICE, DIFF_AT(output), AS_HTML, "output", NULL, "a page for a browser: give -o FILE" }, \
	{ "open", OPT_SWITCH, COMMON_AT(open), 0, NULL, NULL, "with --html: opens it in your browser, by xdg-open" }, \
	{ "no-source", OPT_SWITCH, COMMON_AT(no_source), 0, NULL, NULL, "with --html: leaves the lines of source out" }, \
	{ "top", OPT_COUNT, COMMON_AT(top), 0, NULL, "N", \
	  "shows the first N rows only; 0 shows all (the default; a terminal shows as many as fit)" }, \
	{ "color", OPT_WORD, COMMON_AT(colour), 0, NULL, "auto|always|never", \
	  "colours, which repeat what the words say (auto: on a terminal, unless NO_COLOR is set)" }

#define ROW_ROWS \
	HEADING(FOR_DIFF | FOR_CHECK, "What a row is"), \
	{ "by", OPT_WORD, DIFF_AT(by), 0, NULL, "function|line|file|lib|group|tag|stack|size|referrer", \
	  "one row for each of these (by default a line of Ruby, or a function); referrer, of snapshots of jprof snap --referrers: what points to it" }, \
	{ "functions", OPT_CHOICE, DIFF_AT(by), BY_FUNCTION, "by", NULL, "the same as --by=function" }, \
	{ "lines", OPT_CHOICE, DIFF_AT(by), BY_LINE, "by", NULL, "the same as --by=line" }, \
	{ "files", OPT_CHOICE, DIFF_AT(by), BY_FILE, "by", NULL, "the same as --by=file" }, \
	{ "libs", OPT_CHOICE, DIFF_AT(by), BY_LIB, "by", NULL, "the same as --by=lib" }, \
	HEADING(FOR_DIFF | FOR_CHECK, "Which part"), \
	{ "focus", OPT_TEXT, COMMON_AT(focus), 0, NULL, "RE", \
	  "only stacks with a function, line or address that matches; lib:RE: with such an object file or gem" }, \
	{ "fold-also", OPT_TEXT, COMMON_AT(fold_also), 0, NULL, "RE", "hides these functions, too, as wrappers of malloc" }, \
	{ "member", OPT_TEXT, COMMON_AT(member), 0, NULL, "NAME|PID|ROLE", \
	  "reads this member of bundles alone: a name, a pid, or a role" }, \
	{ "heap", OPT_WORD, COMMON_AT(heap), 0, NULL, "all|malloc|slots", \
	  "what malloc gave and Ruby's objects in slots of its own heap, where the agent sampled these (all, the default)" }, \
	{ "assume-gc", OPT_SWITCH, DIFF_AT(assume_gc), 0, NULL, NULL, \
	  "assumes that Ruby collected its garbage before each snapshot, though nothing says so" }, \
	{ "rules", OPT_TEXT, COMMON_AT(rules), 0, NULL, "FILE", \
	  "reads rules that go before the built-in ones; man jprof-explain has the format" }

#define NAME_ROWS \
	HEADING(FOR_DIFF | FOR_CHECK, "Where names come from"), \
	OPTIONS_LOOKUP(COMMON_AT), \
	{ "trim-path", OPT_TEXT, COMMON_AT(trim_path), 0, NULL, "P,P", \
	  "takes these prefixes off the paths of Ruby files" }, \
	HEADING(FOR_DIFF | FOR_CHECK, "Help"), \
	{ "help", OPT_SWITCH, COMMON_AT(help), 0, NULL, NULL, "this text" }

static const struct opt_row diff_rows[] = {
	OUTPUT_ROWS,
	{ "ignore", OPT_TEXT, COMMON_AT(ignore), 0, NULL, "RE", "only stacks without a function that matches" },
	{ "objects", OPT_SWITCH, DIFF_AT(objects), 0, NULL, NULL,
	  "of two or three snapshots of jprof snap --objects: which Ruby objects were born and stayed, and who keeps them" },
	{ "output", OPT_TEXT, COMMON_AT(file), 0, NULL, "FILE", "write to FILE; -o FILE is the same" },
	{ "o", OPT_TEXT, COMMON_AT(file), 0, NULL, "FILE", NULL },
	ROW_ROWS,
	HEADING(FOR_DIFF, "Source files (--html)"),
	{ "source-path", OPT_TEXT, COMMON_AT(source_path), 0, NULL, "DIR,DIR",
	  "looks for source files below these directories first" },
	NAME_ROWS,
};

static const struct opt_row check_rows[] = {
	HEADING(FOR_CHECK, "What may grow"),
	{ "max-growth", OPT_TEXT, DIFF_AT(max_growth), 0, NULL, "SIZE|P%",
	  "how much one row may grow (5MB); a percentage is of its first value, and 1 MB at least" },
	{ "max-total", OPT_TEXT, DIFF_AT(max_total), 0, NULL, "SIZE|P%",
	  "how much all memory may grow, with what lies outside the profile (no limit)" },
	{ "max-unreachable", OPT_TEXT, DIFF_AT(max_unreachable), 0, NULL, "SIZE|P%",
	  "of one process, core or snapshot of jprof snap --unreachable, and nothing else: to how much of its live memory no pointer may be found" },
	{ "ignore", OPT_TEXT, COMMON_AT(ignore), 0, NULL, "RE",
	  "what stacks with a function that matches allocate may grow" },
	{ "baseline", OPT_TEXT, DIFF_AT(baseline), 0, NULL, "FILE",
	  "growth that was accepted before; JSON (jprof-baseline.json, if it is there)" },
	{ "update-baseline", OPT_SWITCH, DIFF_AT(update_baseline), 0, NULL, NULL,
	  "accept what grew too much, and write it to the baseline" },
	{ "github", OPT_SWITCH, DIFF_AT(github), 0, NULL, NULL,
	  "annotations for GitHub Actions, and Markdown to $GITHUB_STEP_SUMMARY" },
	{ "json", OPT_CHOICE, DIFF_AT(output), AS_JSON, "output", NULL, "JSON; man jprof-json has the schema" },
	{ "output", OPT_TEXT, COMMON_AT(file), 0, NULL, "FILE", "write to FILE; -o FILE is the same" },
	ROW_ROWS,
	NAME_ROWS,
};
/* clang-format on */

static const struct opt_table diff_table = { .rows = diff_rows,
	                                     .count = sizeof diff_rows / sizeof *diff_rows,
	                                     .help = "jprof diff --help" };
static const struct opt_table check_table = { .rows = check_rows,
	                                      .count = sizeof check_rows / sizeof *check_rows,
	                                      .help = "jprof check --help" };

bool diff_options_parse(struct diff_options *o, bool check, int argc, char **argv)
{
	*o = (struct diff_options){ .by = BY_USUAL, .may_group = !check };
	o->common = (struct options){ .output = check ? "check" : "diff",
		                      .granularity = ROWS_USUAL,
		                      .top = TOP_FITS,
		                      .fold = FOLD_STD,
		                      .quiet = true,
		                      .operands = argv + 1 };
	if (!opt_parse(check ? &check_table : &diff_table, o, argc, argv, &o->common.operand_count))
		return false;
	if (o->common.file && !strcmp(o->common.file, "-"))
		o->common.file = NULL;
	return true;
}

const char *diff_format(const struct diff_options *o)
{
	static const char *const formats[] = {
		[AS_TEXT] = "text", [AS_JSON] = "json", [AS_CSV] = "csv", [AS_MARKDOWN] = "markdown", [AS_HTML] = "html"
	};
	return formats[o->output];
}

void diff_add_rows(struct typed *command, const struct diff_options *o)
{
	char word[32] = "";
	for (size_t i = 0; o->by != BY_USUAL && i < diff_table.count; i++)
		if (!strcmp(diff_rows[i].name, "by")) {
			const char *words = diff_rows[i].argument;
			for (int k = 0; k < o->by; k++)
				words += strcspn(words, "|") + 1;
			snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "|"), words);
		}
	typed_option(command, "by", *word ? word : NULL);
	typed_option(command, "focus", o->common.focus);
	typed_option(command, "fold-also", o->common.fold_also);
	typed_switch(command, "assume-gc", o->assume_gc);
}

void diff_help(void)
{
	printf("usage: jprof diff [OPTIONS] [PROGRAM] FIRST [BETWEEN...] LAST\n"
	       "\n"
	       "Says what grew between snapshots, and whether it is a leak. A snapshot is a\n"
	       "bundle of jprof snap, or a dump. Two show what grew; with three or more jprof\n"
	       "can tell a leak from what has levelled off. Take them between restarts, with\n"
	       "jprof snap --gc.\n");
	opt_help(&diff_table, FOR_DIFF);
	printf("\n"
	       "Examples\n"
	       "  jprof diff evening.jprof night.jprof morning.jprof\n"
	       "  jprof diff --by=lib --markdown kv.1.heap kv.2.heap kv.3.heap\n");
}

void check_help(void)
{
	printf("usage: jprof check [OPTIONS] [PROGRAM] FIRST [BETWEEN...] LAST\n"
	       "       jprof check --max-unreachable=1MB PID|CORE|SNAPSHOT\n"
	       "\n"
	       "A gate for CI: whether a row grew by more than it may, from the first snapshot\n"
	       "to the last. Exit status: 0 PASS, 3 FAIL, 1 CANNOT TELL or wrong usage.\n");
	opt_help(&check_table, FOR_CHECK);
	printf("\n"
	       "Examples\n"
	       "  jprof check --max-growth=10MB warm.jprof soak1.jprof soak2.jprof\n"
	       "  jprof check --github --baseline=ci/jprof.json warm.jprof soak.jprof\n");
}
