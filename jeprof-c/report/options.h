/* The command line: one table makes the parser and --help. */
#pragma once

#include "jprof.h"

enum { ROWS_USUAL = -1, ROWS_BY_REFERRER = JPROF_BY_TAG + 1 };

/* As many rows as fit the terminal; all where there is none. */
#define TOP_FITS SIZE_MAX

struct options {
	bool help;
	bool version;
	int granularity; /* enum jprof_granularity, or ROWS_USUAL: what fits the profile and the report */
	enum jprof_counter counter;
	enum { FOLD_NONE, FOLD_ALLOC, FOLD_STD, FOLD_VM } fold; /* in the order of --fold's words */
	const char *fold_also;
	enum jprof_ruby ruby; /* in the order of --ruby's words */
	bool cum;
	enum { SORT_CHANGE, SORT_VALUE } sort; /* of a difference, in the order of --sort's words */
	bool show_bytes;
	bool full_names;
	bool errors;
	bool mean;
	bool ages;
	const char *older, *newer;   /* as given */
	uint64_t older_ms, newer_ms; /* 0: not given */
	bool labels;                 /* no option: workers and ages stay apart, for --proto's labels */
	bool lean;                   /* no option: what is wanted can be made of a lean profile */
	size_t top;                  /* rows at most; 0: all, or TOP_FITS */
	enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour; /* in the order of --color's words */
	const char *base;
	const char *diff_base;
	const char *maps;
	const char *sysroot;
	const char *lib_prefix;
	const char *thread;
	const char *tag;
	const char *member;
	const char *focus;
	const char *ignore;
	const char *also_focus; /* of one report of a session, beside what is set for all */
	const char *also_ignore;
	const char *retain;
	const char *exclude;
	bool drop_negative;
	enum {
		HEAP_ALL,
		HEAP_MALLOC,
		HEAP_SLOTS,
		HEAP_USUAL
	} heap;             /* as enum jprof_heap, in the order of --heap's words */
	const char *output; /* the format of the report, or the command "symbols", "interactive" or "i" */
	const char *file;   /* where it goes; NULL: standard output */
	bool open;          /* of --html: a browser shows it */
	bool no_source;     /* likewise: it has no lines of source */
	bool normalize;
	const char *add_lib;
	const char *debug_dir;
	const char *perf_map;
	const char *names; /* packs, beside those that are found */
	bool no_packs;
	bool no_cache;
	bool no_sandbox;
	bool debuginfod;
	const char *max_memory; /* as given */
	const char *pattern;    /* of --peek, --list and --disasm */
	const char *source_path;
	const char *trim_path;
	bool all;          /* of jprof info: each thread, file and member; of a report: all rows */
	const char *rules; /* of explain alone */
	bool unreachable;  /* likewise: what no pointer was found to */
	bool copied;       /* likewise: what was copied since the fork */
	bool gc;           /* likewise: these collect their garbage first */
	const char *puma;  /* likewise: its processes are snapped first; "": the one that runs here; NULL: none */
	bool total;        /* of reports that do not have it by themselves, too: the line "Total:" */
	bool dumpless;     /* no option: a bundle that was read from outside, without a dump, will do */
	bool quiet;        /* remarks on how sure the names and numbers are were made before */
	bool as_jeprof;    /* called by that name */
	size_t nodecount;  /* of a graph; 0: as jprof_graph_opts has it. The shares are those of jprof.h */
	double nodefraction;
	double edgefraction;
	size_t maxdegree;
	bool chains;
	enum { CLUSTER_USUAL, CLUSTER_ON, CLUSTER_OFF } cluster;
	const char *command; /* "explain"; NULL: a report */
	char **operands;     /* what is no option, in order; part of argv */
	int operand_count;
};

/* Reads argv[1..], which is reordered. False after having said what is wrong. */
bool options_parse(struct options *options, int argc, char **argv);

/* What they mean for views, and for reports of views. */
struct jprof_view_opts options_view(const struct options *options);
struct jprof_report_opts options_report(const struct options *options);

/* Whether a word is the name of an option; and then whether that takes a value. */
bool options_have(const char *word, bool *value);

/* The formats that the program treats in ways of their own, or that commands write beside reports. */
enum answer_form { FORM_TEXT, FORM_JSON, FORM_HTML, FORM_OTHER };
enum answer_form options_form(const struct options *options);

/* Whether the report goes to a terminal. */
bool options_screen(const struct options *options);

/* Print the options for people: those of reports, of `jprof info` and of `jprof explain`. */
void options_help(void);
void options_info_help(void);
void options_explain_help(void);

/* Rows of an option table: where names are looked for. AT(member) is the place of a member of struct options. */
/* clang-format off */
#define OPTIONS_LOOKUP(AT) \
	{ "sysroot", OPT_TEXT, AT(sysroot), 0, NULL, "DIR", "looks for all mapped files below DIR" }, \
	{ "lib_prefix", OPT_TEXT, AT(lib_prefix), 0, NULL, "DIR,DIR", "looks for mapped files below these directories first" }, \
	{ "add_lib", OPT_TEXT, AT(add_lib), 0, NULL, "FILE,FILE", \
	  "uses these files for mapped ones that are missing" }, \
	{ "debug-dir", OPT_TEXT, AT(debug_dir), 0, NULL, "DIR,DIR", \
	  "looks for separate debug files here, then in /usr/lib/debug" }, \
	{ "debuginfod", OPT_SWITCH, AT(debuginfod), 0, NULL, NULL, \
	  "asks the servers in $DEBUGINFOD_URLS for what is missing" }, \
	{ "names", OPT_TEXT, AT(names), 0, NULL, "FILE,FILE", \
	  "uses these packs of names for stripped libraries; jprof names learn makes them" }, \
	{ "no-packs", OPT_SWITCH, AT(no_packs), 0, NULL, NULL, "uses no packs of names" }, \
	{ "no-cache", OPT_SWITCH, AT(no_cache), 0, NULL, NULL, \
	  "finds names anew, and keeps none; jprof cache says what is kept" }, \
	{ "no-sandbox", OPT_SWITCH, AT(no_sandbox), 0, NULL, NULL, \
	  "reads symbols and debug information in this process, to find out why it fails" }, \
	{ "perf-map", OPT_TEXT, AT(perf_map), 0, NULL, "FILE", \
	  "reads a JIT compiler's list of its code, such as /tmp/perf-PID.map" }, \
	{ "max-memory", OPT_TEXT, AT(max_memory), 0, NULL, "SIZE", \
	  "stops, and says so, before it takes more memory (k, M, G; default: what the control group has left, or half of what is free)" }
/* clang-format on */
