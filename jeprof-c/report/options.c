#include "report/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/duration.h"
#include "cli/filesread.h"
#include "cli/optparse.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "report/allformats.h"

#define OPTION_AT(member) offsetof(struct options, member)
/* clang-format off */
#define REFUSED_ROW(word, why) { word, OPT_REFUSED, 0, 0, NULL, NULL, why }
#define HEADING_ROW(commands, text) { "", OPT_HEADING, 0, commands, NULL, NULL, text }
/* clang-format on */

/* In whose help a group of options stands. */
enum { REPORTS = 1, INFO = 2, EXPLAIN = 4 };

/* Perl jeprof's own options: what begins one of them means it, so its abbreviations go on working. */
/* clang-format off */
static const char *const jeprof_options[] = {
	"add_lib", "addresses", "alloc_objects", "alloc_space", "base", "callgrind", "collapsed", "contentions",
	"cum", "debug", "debug-syms-by-id", "disasm", "dot", "drop_negative", "edgefraction", "evince", "exclude",
	"files", "focus", "functions", "gif", "gv", "heapcheck", "help", "ignore", "interactive", "inuse_objects",
	"inuse_space", "lib_prefix", "lines", "list", "maxdegree", "mean_delay", "nodecount", "nodefraction", "pdf",
	"ps", "raw", "retain", "scale", "seconds", "show_bytes", "svg", "symbols", "test", "test_stride", "text",
	"thread", "tools", "total_delay", "version", "web", NULL,
};
/* clang-format on */

static const struct opt_row report_rows[] = {
	{ "interactive", OPT_NAME, OPTION_AT(output), 0, "output", NULL,
	  "takes one question after the other; also -i" },
	{ "i", OPT_NAME, OPTION_AT(output), 0, "output", NULL, NULL },
	{ "symbols", OPT_NAME, OPTION_AT(output), 0, "output", NULL,
	  "reads maps and addresses from standard input, and prints names" },
	HEADING_ROW(REPORTS | EXPLAIN, "Where it is written"),
	{ "output", OPT_TEXT, OPTION_AT(file), 0, NULL, "FILE",
	  "writes the report to FILE (- is standard output); -o FILE is the same" },
	{ "o", OPT_TEXT, OPTION_AT(file), 0, NULL, "FILE", NULL },
	{ "open", OPT_SWITCH, OPTION_AT(open), 0, NULL, NULL,
	  "with --html: opens the page in your browser, by xdg-open" },
	{ "no-source", OPT_SWITCH, OPTION_AT(no_source), 0, NULL, NULL,
	  "with --html: leaves the lines of source out of the page" },
	HEADING_ROW(INFO, "How much of it"),
	{ "all", OPT_SWITCH, OPTION_AT(all), 0, NULL, NULL,
	  "shows more than fits a screen: each thread, each file, each member of a bundle" },
	HEADING_ROW(REPORTS, "What a row is"),
	{ "functions", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_FUNCTION, "granularity", NULL,
	  "one row for each function (the default)" },
	{ "lines", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_LINE, "granularity", NULL,
	  "one row for each source line" },
	{ "files", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_FILE, "granularity", NULL,
	  "one row for each source file" },
	{ "addresses", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_ADDRESS, "granularity", NULL,
	  "one row for each address" },
	{ "libs", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_LIBRARY, "granularity", NULL,
	  "one row for each library or gem: who owns it" },
	{ "sites", OPT_CHOICE, OPTION_AT(granularity), JPROF_BY_SITE, "granularity", NULL,
	  "one row for each line of Ruby that allocated; what native code and Ruby itself allocate counts for that line (the default where there are Ruby stacks, also of --list, --tree, --peek, --traces and pictures)" },
	{ "by", OPT_WORD, OPTION_AT(granularity), 0, NULL,
	  "function|line|file|address|lib|site|kind|group|tag|referrer",
	  "one row for each of these; a tag is what a Ruby program says of its work: the route, the job; referrer, for jprof explain PID: what points to it" },
	HEADING_ROW(REPORTS, "What is counted"),
	{ "inuse_space", OPT_CHOICE, OPTION_AT(counter), JPROF_INUSE_SPACE, "counter", NULL,
	  "bytes in use (the default)" },
	{ "inuse_objects", OPT_CHOICE, OPTION_AT(counter), JPROF_INUSE_OBJECTS, "counter", NULL, "objects in use" },
	{ "alloc_space", OPT_CHOICE, OPTION_AT(counter), JPROF_ALLOC_SPACE, "counter", NULL,
	  "bytes allocated since the start (prof_accum:true)" },
	{ "alloc_objects", OPT_CHOICE, OPTION_AT(counter), JPROF_ALLOC_OBJECTS, "counter", NULL,
	  "objects allocated since the start" },
	HEADING_ROW(REPORTS, "How it is shown"),
	{ "show_bytes", OPT_SWITCH, OPTION_AT(show_bytes), 0, NULL, NULL, "shows bytes instead of MB" },
	{ "cum", OPT_SWITCH, OPTION_AT(cum), 0, NULL, NULL, "orders rows by their cumulative value" },
	{ "top", OPT_COUNT, OPTION_AT(top), 0, NULL, "N",
	  "shows the first N rows only; 0 shows all (the default; a terminal shows as many as fit)" },
	{ "color", OPT_WORD, OPTION_AT(colour), 0, NULL, "auto|always|never",
	  "colours (auto: on a terminal, unless NO_COLOR is set); they only repeat what the words say" },
	{ "full-names", OPT_SWITCH, OPTION_AT(full_names), 0, NULL, NULL, "shows functions with their parameters" },
	{ "errors", OPT_SWITCH, OPTION_AT(errors), 0, NULL, NULL,
	  "shows how far each number may be off: standard error, 95 % interval, number of samples" },
	{ "mean-size", OPT_SWITCH, OPTION_AT(mean), 0, NULL, NULL,
	  "adds a column: the mean size of the objects of each row" },
	{ "normalize-addresses", OPT_SWITCH, OPTION_AT(normalize), 0, NULL, NULL,
	  "--proto: addresses as in the object files, so that equal stacks of several processes are equal" },
	HEADING_ROW(REPORTS, "How old it is"),
	{ "ages", OPT_SWITCH, OPTION_AT(ages), 0, NULL, NULL,
	  "shows how much of each row is from the last hour, older, and from startup, and whether it grows (for programs that ran with jprof's agent)" },
	{ "older", OPT_TEXT, OPTION_AT(older), 0, NULL, "TIME",
	  "shows only what is at least so old: 90s, 10m, 1h, 2d" },
	{ "newer", OPT_TEXT, OPTION_AT(newer), 0, NULL, "TIME", "shows only what is less old than that" },
	HEADING_ROW(REPORTS, "What grew"),
	{ "base", OPT_TEXT, OPTION_AT(base), 0, NULL, "DUMP", "subtracts DUMP: shows what has grown since" },
	{ "diff_base", OPT_TEXT, OPTION_AT(diff_base), 0, NULL, "DUMP", "the same, with percentages of DUMP" },
	{ "sort", OPT_WORD, OPTION_AT(sort), 0, NULL, "change|value",
	  "puts the largest change first, up or down (change, the default), or growth before loss (value, as jeprof)" },
	{ "drop_negative", OPT_SWITCH, OPTION_AT(drop_negative), 0, NULL, NULL, "counts what shrank as 0" },
	HEADING_ROW(REPORTS, "Which part"),
	{ "fold", OPT_WORD, OPTION_AT(fold), 0, NULL, "none|alloc|std|vm",
	  "hides wrappers of malloc (alloc), also the standard library of C++ and Rust (std, the default), also the "
	  "language's machinery (vm), or only the allocator (none, as jeprof); their callers get their memory" },
	{ "fold-also", OPT_TEXT, OPTION_AT(fold_also), 0, NULL, "RE",
	  "hides these functions, too, as wrappers of malloc" },
	{ "ruby", OPT_WORD, OPTION_AT(ruby), 0, NULL, "merged|only|off",
	  "frames of Ruby: outside of the native ones (merged, the default), alone, or not at all" },
	{ "focus", OPT_TEXT, OPTION_AT(focus), 0, NULL, "RE",
	  "only stacks with a function, line or address that matches; lib:RE: with such an object file or gem; group:RE: of such a group (--by=group)" },
	{ "ignore", OPT_TEXT, OPTION_AT(ignore), 0, NULL, "RE",
	  "only stacks without such a function, line or address" },
	{ "retain", OPT_TEXT, OPTION_AT(retain), 0, NULL, "RE", "only frames whose function matches" },
	{ "exclude", OPT_TEXT, OPTION_AT(exclude), 0, NULL, "RE", "only frames whose function does not match" },
	{ "tag", OPT_TEXT, OPTION_AT(tag), 0, NULL, "RE",
	  "shows only what was allocated under a tag that matches; ^$: under no tag" },
	{ "thread", OPT_TEXT, OPTION_AT(thread), 0, NULL, "N|NAME|*", "one thread, or each in turn" },
	{ "heap", OPT_WORD, OPTION_AT(heap), 0, NULL, "all|malloc|slots",
	  "what malloc gave and Ruby's objects in slots of its own heap, where the agent sampled these (all, the default; for --raw and --callgrind malloc)" },
	HEADING_ROW(REPORTS | INFO | EXPLAIN, "Which process of a bundle"),
	{ "member", OPT_TEXT, OPTION_AT(member), 0, NULL, "NAME|PID|ROLE",
	  "reads this member of a bundle alone: a name, a pid, or master" },
	HEADING_ROW(REPORTS, "Pictures, and --tree"),
	{ "nodecount", OPT_NUMBER, OPTION_AT(nodecount), 0, NULL, "N", "draws at most N boxes (80, by site 40)" },
	{ "nodefraction", OPT_SHARE, OPTION_AT(nodefraction), 0, NULL, "F",
	  "leaves out functions with up to this share (.005), also in --tree" },
	{ "edgefraction", OPT_SHARE, OPTION_AT(edgefraction), 0, NULL, "F",
	  "leaves out arrows with up to this share (.001)" },
	{ "maxdegree", OPT_NUMBER, OPTION_AT(maxdegree), 0, NULL, "N",
	  "draws at most N arrows into and out of a function (8, and in all 200)" },
	{ "cluster", OPT_CHOICE, OPTION_AT(cluster), CLUSTER_ON, "cluster", NULL,
	  "draws a frame around the code of each library, gem and application (the default for functions of a Ruby)" },
	{ "nocluster", OPT_CHOICE, OPTION_AT(cluster), CLUSTER_OFF, "cluster", NULL, "draws no frames" },
	{ "chains", OPT_SWITCH, OPTION_AT(chains), 0, NULL, NULL,
	  "a box for each function of a chain of calls, and in --tree a line" },
	{ "heapcheck", OPT_NOTHING, 0, 0, NULL, NULL, NULL }, /* colours always tell growth from loss */
	{ "scale", OPT_NOTHING, 0, 0, NULL, "N", NULL },      /* for gv, which is not run */
	HEADING_ROW(REPORTS | INFO | EXPLAIN, "Where names come from"),
	{ "maps", OPT_TEXT, OPTION_AT(maps), 0, NULL, "FILE|PID",
	  "uses this /proc/PID/maps instead of the dump's own" },
	OPTIONS_LOOKUP(OPTION_AT),
	HEADING_ROW(REPORTS | EXPLAIN, "Source files (--list, --html), and paths of Ruby"),
	{ "source-path", OPT_TEXT, OPTION_AT(source_path), 0, NULL, "DIR,DIR",
	  "looks for source files below these directories first" },
	{ "trim-path", OPT_TEXT, OPTION_AT(trim_path), 0, NULL, "P,P",
	  "takes these prefixes off the paths of source files and of Ruby files" },
	HEADING_ROW(EXPLAIN, "Live processes, and what memory is for"),
	{ "puma", OPT_MAYBE, OPTION_AT(puma), 0, NULL, "PID",
	  "takes a snapshot of the Puma that runs here, master and workers; of several the one of PID" },
	{ "unreachable", OPT_SWITCH, OPTION_AT(unreachable), 0, NULL, NULL,
	  "says to which live memory no pointer was found, by size and by what is in it; with --addresses each block, for gdb" },
	{ "copied", OPT_SWITCH, OPTION_AT(copied), 0, NULL, NULL,
	  "of a process that was forked, or of the forks of one: says what was copied since, and for which changes" },
	{ "gc", OPT_SWITCH, OPTION_AT(gc), 0, NULL, NULL, "lets a live Ruby collect its garbage first" },
	{ "rules", OPT_TEXT, OPTION_AT(rules), 0, NULL, "FILE",
	  "reads rules that go before the built-in ones; man jprof-explain has the format" },
	HEADING_ROW(REPORTS | INFO | EXPLAIN, "Help"),
	{ "help", OPT_SWITCH, OPTION_AT(help), 0, NULL, NULL, "this text" },
	{ "version", OPT_SWITCH, OPTION_AT(version), 0, NULL, NULL, "version and features" },
	/* clang-format off */
	REFUSED_ROW("evince", "give --pdf -o FILE and open that, or --web"),
	REFUSED_ROW("gv", "give --pdf -o FILE and open that, or --web"),
	REFUSED_ROW("contentions", "jprof reads heap profiles only"),
	REFUSED_ROW("debug", "jprof info shows what was looked for, and what was found"),
	REFUSED_ROW("debug-syms-by-id", "not needed: debug files are always found by build-id"),
	REFUSED_ROW("mean_delay", "jprof reads heap profiles only; --mean-size shows how large objects are"),
	REFUSED_ROW("seconds", "jprof never fetches profiles from a network"),
	REFUSED_ROW("test", "jprof's own tests are run by: sh tests/run.sh"),
	REFUSED_ROW("test_stride", "jprof's own tests are run by: sh tests/run.sh"),
	REFUSED_ROW("tools", "not needed: jprof reads object files itself"),
	REFUSED_ROW("total_delay", "jprof reads heap profiles only"),
	REFUSED_ROW("bytes", "--show_bytes shows bytes instead of MB"),
	REFUSED_ROW("compare", "jprof diff EARLIER LATER shows what grew"),
	REFUSED_ROW("diff", "jprof diff EARLIER LATER shows what grew"),
	REFUSED_ROW("format", "give the format itself: --json, --csv, --svg ..."),
	REFUSED_ROW("limit", "--top=N shows the first N rows"),
	REFUSED_ROW("objects", "--inuse_objects counts objects in use, --alloc_objects all since the start"),
	REFUSED_ROW("pid", "jprof snap PID takes a snapshot of a process"),
	REFUSED_ROW("verbose", "jprof info says what was looked for, and what was found"),
	REFUSED_ROW("flamegraph", "--flame -o FILE.svg draws it; --collapsed is what flamegraph.pl draws"),
	REFUSED_ROW("flame-graph", "--flame -o FILE.svg draws it; --collapsed is what flamegraph.pl draws"),
	/* clang-format on */
};

enum { row_count = sizeof report_rows / sizeof *report_rows };

/* All options: the formats of reports, the first of which is the default, and those above. To be released by free. */
static struct opt_row *all_rows(struct opt_table *table)
{
	const struct jprof_format *format;
	size_t n = 0;
	while (format_at(n))
		n++;
	struct opt_row *all = calloc(1 + n + row_count, sizeof *all);
	*table = (struct opt_table){
		.rows = all, .count = 1 + n + row_count, .help = "jprof --help", .first = jeprof_options
	};
	if (!all) {
		say("memory is short");
		return NULL;
	}
	all[0] = (struct opt_row)HEADING_ROW(REPORTS, "What is printed");
	for (size_t i = 0; (format = format_at(i)); i++)
		all[1 + i] = (struct opt_row){ format->name,      OPT_NAME,
			                       OPTION_AT(output), format->argument ? OPTION_AT(pattern) : 0,
			                       "output",          format->argument,
			                       format->help };
	memcpy(all + 1 + n, report_rows, sizeof report_rows);
	return all;
}

/* Ages are asked for in a way that can be answered. */
static bool check_ages(struct options *o)
{
	static const char *const showing[] = { "text", "csv", "json", "interactive", "i" };
	bool shows = !o->ages;
	if (!duration_parse("older", o->older, &o->older_ms) || !duration_parse("newer", o->newer, &o->newer_ms))
		return false;
	if (o->older && o->newer && o->newer_ms <= o->older_ms) {
		say("--older=%s --newer=%s: nothing is both older and newer than that", o->older, o->newer);
		return false;
	}
	for (size_t i = 0; i < sizeof showing / sizeof *showing; i++)
		shows = shows || !o->output || !strcmp(o->output, showing[i]);
	if (!shows)
		say("--ages: --%s shows no ages; --text, --csv and --json do", o->output);
	return shows;
}

bool options_parse(struct options *o, int argc, char **argv)
{
	struct opt_table table;
	struct opt_row *all = all_rows(&table);
	o->operands = argv + 1;
	bool good = all && opt_parse(&table, o, argc, argv, &o->operand_count);
	free(all);
	if (!good)
		return false;
	if (o->file && !strcmp(o->file, "-"))
		o->file = NULL;
	if (o->all)
		o->top = 0;
	if (o->base && o->diff_base) {
		say("--base and --diff_base exclude each other");
		return false;
	}
	return check_ages(o);
}

/* In the order of --fold's words. */
static const enum jprof_fold folds[] = { JPROF_FOLD_NONE, JPROF_FOLD_ALLOC, JPROF_FOLD_STD, JPROF_FOLD_VM };

struct jprof_view_opts options_view(const struct options *o)
{
	const struct jprof_format *format = format_find(o->output);
	return (struct jprof_view_opts){
		.size = sizeof(struct jprof_view_opts),
		.counter = o->counter,
		.granularity =
		    (enum jprof_granularity)(o->granularity == ROWS_USUAL ? JPROF_BY_FUNCTION : o->granularity),
		.ruby = o->ruby,
		.trim_path = o->trim_path,
		.fold = folds[o->fold],
		.fold_also = o->fold_also,
		.retain = o->retain,
		.exclude = o->exclude,
		.focus = o->focus,
		.ignore = o->ignore,
		.also_focus = o->also_focus,
		.also_ignore = o->also_ignore,
		.tag = o->tag,
		.labels = o->labels,
		.drop_negative = o->drop_negative && (o->base || o->diff_base),
		.full_names = o->full_names,
		.errors = o->errors || (format && format->errors),
		.percent_of_base = o->diff_base,
		.percent_of_changes = !o->as_jeprof,
		.short_names = o->as_jeprof,
		.ages = !o->ages ? JPROF_AGES_NONE
		        : o->cum ? JPROF_AGES_CUM
		                 : JPROF_AGES_FLAT,
		.older = o->older_ms,
		.newer = o->newer_ms,
	};
}

enum answer_form options_form(const struct options *o)
{
	static const char *const names[FORM_OTHER] = {
		[FORM_TEXT] = "text", [FORM_JSON] = "json", [FORM_HTML] = "html"
	};
	unsigned form = 0;
	while (form < FORM_OTHER && strcmp(o->output, names[form]) != 0)
		form++;
	return form;
}

bool options_screen(const struct options *o)
{
	return !o->file && isatty(STDOUT_FILENO);
}

static bool has_colour(const struct options *o)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (o->as_jeprof || o->file || o->colour != COLOUR_AUTO)
		return o->colour == COLOUR_ALWAYS && !o->as_jeprof && !o->file;
	return options_screen(o) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Behind jeprof's columns on a pipe only where jeprof has no such rows. */
static bool shows_freed(const struct options *o)
{
	return !o->as_jeprof && (options_screen(o) || o->ruby == JPROF_RUBY_ONLY);
}

struct jprof_report_opts options_report(const struct options *o)
{
	return (struct jprof_report_opts){
		.size = sizeof(struct jprof_report_opts),
		.cum = o->cum,
		.top = o->top == TOP_FITS ? 0 : o->top,
		.show_bytes = o->show_bytes,
		.pattern = o->pattern,
		.least_share = o->nodefraction > 0 ? o->nodefraction : -1,
		.total = o->total,
		.normalize = o->normalize,
		.trim_path = o->trim_path,
		.source_path = o->source_path,
		.by_change = o->sort == SORT_CHANGE && (o->base || o->diff_base),
		.plain_total = o->as_jeprof,
		.advice_words = advice_after,
		.called_by = options_screen(o) && !o->as_jeprof,
		.columns = options_screen(o) && !o->as_jeprof ? terminal_size().columns : 0,
		.colour = has_colour(o),
		.char_columns = terminal_char_columns,
		.utf8 = *terminal_plus_minus() != '+',
		.mean = o->mean,
		.freed = shows_freed(o),
		.chains = o->chains,
		.notice = filesread_notice(),
		.finder = sandbox_finder(o->no_sandbox),
	};
}

bool options_have(const char *word, bool *value)
{
	struct opt_table table;
	struct opt_row *all = all_rows(&table);
	bool have = false;
	for (size_t i = 0; all && i < table.count && !have; i++) {
		have = all[i].help && all[i].kind != OPT_HEADING && all[i].kind != OPT_REFUSED &&
		       !strcmp(all[i].name, word);
		*value = all[i].argument;
	}
	free(all);
	return have;
}

static void put_options(int commands)
{
	struct opt_table table;
	struct opt_row *all = all_rows(&table);
	if (all)
		opt_help(&table, commands);
	free(all);
}

void options_help(void)
{
	printf("usage: jprof [OPTIONS] [PROGRAM] DUMP...  where the memory of a process is\n"
	       "       jprof explain [EARLIER] LATER      where all memory is, and what helps\n"
	       "       jprof diff FIRST... LAST           what grew, and whether it is a leak\n"
	       "       jprof check FIRST... LAST          a gate for CI\n"
	       "       jprof info DUMP...                 what a dump holds, how sure names are\n"
	       "       jprof bundle -o FILE DUMP...       a dump with its names in one file\n"
	       "       jprof snap PID...                  dumps of live processes, in a bundle\n"
	       "       jprof watch PID                    what grows, while it grows\n"
	       "       jprof keepers FILE.ndjson          who keeps a Ruby's objects\n"
	       "       jprof serve --pid=PID              profiles over HTTP, for collectors\n"
	       "       jprof run -- COMMAND...            starts a program under profiling\n"
	       "       jprof doctor PID | -- COMMAND...   what is wrong with a set-up\n"
	       "       jprof names learn -o PACK FILE     names for stripped libraries\n"
	       "       jprof cache                        what is kept of names, and where\n"
	       "Each command has options of its own: jprof COMMAND --help\n"
	       "\n"
	       "PROGRAM may be left out: the dump names the files of its process. Several dumps\n"
	       "are added up. \"-\" is standard input. DUMP is a bundle of jprof snap, a dump of\n"
	       "jemalloc (heap_v2), a symbolized file, gperftools' text, or profile.proto; each\n"
	       "may be compressed.\n");
	put_options(REPORTS);
	printf("\n"
	       "Examples\n"
	       "  jprof --show_bytes ruby app.1.heap\n"
	       "  jprof --lines --cum --top=20 app.1.heap\n"
	       "  jprof diff app.1.heap app.2.heap\n");
}

void options_info_help(void)
{
	printf("usage: jprof info [OPTIONS] [PROGRAM] DUMP...\n"
	       "\n"
	       "Says what a dump holds: its format, sampling rate, threads and totals. For each\n"
	       "object file it says who named how many bytes, why names are missing, and what\n"
	       "would bring them.\n"
	       "\n"
	       "  --json                 the same as JSON; man jprof-json has the schema\n"
	       "  --base=DUMP            subtracts DUMP: says of what has grown since\n");
	put_options(INFO);
	printf("\n"
	       "Examples\n"
	       "  jprof info app.1.heap\n"
	       "  jprof info --sysroot=image app.1.heap\n");
}

void options_explain_help(void)
{
	printf("usage: jprof explain [OPTIONS] [PROGRAM] SNAPSHOT\n"
	       "       jprof explain [OPTIONS] [PROGRAM] EARLIER LATER\n"
	       "       jprof explain [OPTIONS] [EARLIER] PID|CORE|--puma\n"
	       "\n"
	       "Says where all memory of the processes in a snapshot is, in a table that adds up\n"
	       "to RSS: live objects by owner, Ruby's GC heap, fragmentation, freed pages, what\n"
	       "jemalloc and the profiler take, stacks, files, and what is not explained. Of two\n"
	       "snapshots it says how much each part grew. Then it says what would help.\n"
	       "A live process is snapped first, and no file is left; -o FILE.jprof keeps one.\n"
	       "\n"
	       "  --json                 the same as JSON; man jprof-json has the schema\n"
	       "  --html                 a page for a browser: give -o FILE; --open shows it\n");
	put_options(EXPLAIN);
	printf("\n"
	       "Examples\n"
	       "  jprof explain morning.jprof\n"
	       "  jprof explain evening.jprof morning.jprof\n"
	       "  jprof explain 4711\n");
}
