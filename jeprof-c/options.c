#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "say.h"

enum kind {
	SWITCH,  /* a bool; --noX clears it */
	CHOICE,  /* a word that sets an enum to `value`; at most one of a group */
	TEXT,    /* --x=TEXT */
	NUMBER,  /* --x=N */
	FOLD,    /* --x=alloc|vm|none */
	NOTHING, /* accepted: it is what happens anyway */
	LATER,   /* jeprof's, not in this version */
	REFUSED, /* jeprof's, and never will be: `help` says why */
};

struct row {
	const char *name;
	enum kind kind;
	size_t at; /* offset in struct options */
	int value;
	const char *group; /* of a CHOICE */
	const char *argument;
	const char *help; /* NULL: not listed */
};

#define AT(member) offsetof(struct options, member)
/* clang-format off */
#define LATER_ROW(word) { word, LATER, 0, 0, NULL, NULL, NULL }
/* Limits of a graph: jeprof takes them with --text too, where they do nothing. */
#define REFUSED_ROW(word, why) { word, REFUSED, 0, 0, NULL, NULL, why }
#define GRAPH_ROW(word) { word, NOTHING, 0, 0, NULL, "N", NULL }
/* clang-format on */

static const struct row rows[] = {
	{ "text", CHOICE, AT(output), OUTPUT_TEXT, "output", NULL,
	  "a table of flat and cumulative values (the default)" },
	{ "collapsed", CHOICE, AT(output), OUTPUT_COLLAPSED, "output", NULL,
	  "stacks for flame graphs: ROOT;...;LEAF VALUE" },
	{ "raw", CHOICE, AT(output), OUTPUT_RAW, "output", NULL,
	  "the dump with its names, readable without the program" },
	{ "proto", CHOICE, AT(output), OUTPUT_PROTO, "output", NULL,
	  "a profile.proto, for pprof and its kin: give -o FILE" },
	{ "symbols", CHOICE, AT(output), OUTPUT_SYMBOLS, "output", NULL,
	  "names for addresses: reads maps and addresses from standard input" },
	{ "output", TEXT, AT(file), 0, NULL, "FILE", "write the report to FILE; -o FILE is the same" },
	{ "functions", CHOICE, AT(granularity), JPROF_BY_FUNCTION, "granularity", NULL,
	  "one row for each function (the default)" },
	{ "lines", CHOICE, AT(granularity), JPROF_BY_LINE, "granularity", NULL, "one row for each source line" },
	{ "files", CHOICE, AT(granularity), JPROF_BY_FILE, "granularity", NULL, "one row for each source file" },
	{ "addresses", CHOICE, AT(granularity), JPROF_BY_ADDRESS, "granularity", NULL, "one row for each address" },
	{ "libs", CHOICE, AT(granularity), JPROF_BY_LIBRARY, "granularity", NULL,
	  "one row for each library or gem: who owns it" },
	{ "inuse_space", CHOICE, AT(counter), JPROF_INUSE_SPACE, "counter", NULL, "bytes in use (the default)" },
	{ "inuse_objects", CHOICE, AT(counter), JPROF_INUSE_OBJECTS, "counter", NULL, "objects in use" },
	{ "alloc_space", CHOICE, AT(counter), JPROF_ALLOC_SPACE, "counter", NULL,
	  "bytes allocated since the start (prof_accum:true)" },
	{ "alloc_objects", CHOICE, AT(counter), JPROF_ALLOC_OBJECTS, "counter", NULL,
	  "objects allocated since the start" },
	{ "show_bytes", SWITCH, AT(show_bytes), 0, NULL, NULL, "bytes instead of MB" },
	{ "cum", SWITCH, AT(cum), 0, NULL, NULL, "order by cumulative value" },
	{ "top", NUMBER, AT(top), 0, NULL, "N", "only the first N rows" },
	{ "full-names", SWITCH, AT(full_names), 0, NULL, NULL, "function names with their parameters" },
	{ "errors", SWITCH, AT(errors), 0, NULL, NULL,
	  "how far each number may be off: standard error, 95 % interval,\n"
	  "number of samples" },
	{ "fold", FOLD, AT(fold), 0, NULL, "alloc|vm|none",
	  "take away the language's malloc wrappers (alloc, the default), its\n"
	  "machinery too (vm), or nothing but the allocator (none, as jeprof)" },
	{ "base", TEXT, AT(base), 0, NULL, "DUMP", "subtract DUMP: what has grown since" },
	{ "diff_base", TEXT, AT(diff_base), 0, NULL, "DUMP", "the same, with percentages of DUMP" },
	{ "drop_negative", SWITCH, AT(drop_negative), 0, NULL, NULL, "in a difference, count what shrank as 0" },
	{ "focus", TEXT, AT(focus), 0, NULL, "RE", "only stacks with a function, line or address that matches" },
	{ "ignore", TEXT, AT(ignore), 0, NULL, "RE", "only stacks without one" },
	{ "retain", TEXT, AT(retain), 0, NULL, "RE", "only frames whose function matches" },
	{ "exclude", TEXT, AT(exclude), 0, NULL, "RE", "only frames whose function does not" },
	{ "thread", TEXT, AT(thread), 0, NULL, "N|NAME|*", "one thread, or each in turn" },
	{ "normalize-addresses", SWITCH, AT(normalize), 0, NULL, NULL,
	  "--proto: addresses as in the object files, so that equal stacks\nof several processes are equal" },
	{ "maps", TEXT, AT(maps), 0, NULL, "FILE|PID", "this /proc/PID/maps instead of the dump's own" },
	{ "sysroot", TEXT, AT(sysroot), 0, NULL, "DIR", "look up all mapped files below DIR" },
	{ "lib_prefix", TEXT, AT(lib_prefix), 0, NULL, "DIR,DIR", "look up mapped files below these first" },
	{ "add_lib", TEXT, AT(add_lib), 0, NULL, "FILE,FILE", "files that stand in for mapped ones that are missing" },
	{ "debug-dir", TEXT, AT(debug_dir), 0, NULL, "DIR,DIR",
	  "look for separate debug files here, then in /usr/lib/debug" },
	{ "debuginfod", SWITCH, AT(debuginfod), 0, NULL, NULL,
	  "ask the servers in $DEBUGINFOD_URLS for what is missing" },
	{ "perf-map", TEXT, AT(perf_map), 0, NULL, "FILE", "a JIT compiler's list of its code, as /tmp/perf-PID.map" },
	{ "help", SWITCH, AT(help), 0, NULL, NULL, "this text" },
	{ "version", SWITCH, AT(version), 0, NULL, NULL, "version and features" },
	/* clang-format off */
	GRAPH_ROW("edgefraction"),
	GRAPH_ROW("maxdegree"),
	GRAPH_ROW("nodecount"),
	GRAPH_ROW("nodefraction"),
	GRAPH_ROW("scale"),
	LATER_ROW("callgrind"),
	LATER_ROW("disasm"),
	LATER_ROW("dot"),
	LATER_ROW("evince"),
	LATER_ROW("gif"),
	LATER_ROW("gv"),
	LATER_ROW("heapcheck"),
	LATER_ROW("interactive"),
	LATER_ROW("list"),
	LATER_ROW("pdf"),
	LATER_ROW("ps"),
	LATER_ROW("svg"),
	LATER_ROW("web"),
	LATER_ROW("debug"),
	REFUSED_ROW("contentions", "jprof reads heap profiles only"),
	REFUSED_ROW("debug-syms-by-id", "not needed: debug files are always found by build-id"),
	REFUSED_ROW("mean_delay", "jprof reads heap profiles only"),
	REFUSED_ROW("seconds", "jprof never fetches profiles from a network"),
	REFUSED_ROW("test", "jprof's own tests are run by: sh tests/run.sh"),
	REFUSED_ROW("test_stride", "jprof's own tests are run by: sh tests/run.sh"),
	REFUSED_ROW("tools", "not needed: jprof reads object files itself"),
	REFUSED_ROW("total_delay", "jprof reads heap profiles only"),
	/* clang-format on */
};

enum { row_count = sizeof rows / sizeof *rows };

/* The row that `name` means: that very name, or the only one that begins so; words that are refused
 * anyway make nothing ambiguous. *hits counts what it may mean. */
static const struct row *find(const char *name, size_t len, int *hits)
{
	const struct row *found = NULL, *refused = NULL;
	*hits = 0;
	for (int i = 0; i < row_count; i++) {
		if (strncasecmp(rows[i].name, name, len))
			continue;
		if (strlen(rows[i].name) == len) {
			*hits = 1;
			return &rows[i];
		}
		if (rows[i].kind == REFUSED) {
			refused = &rows[i];
			continue;
		}
		found = &rows[i];
		++*hits;
	}
	if (!*hits && refused) {
		*hits = 1;
		return refused;
	}
	return *hits == 1 ? found : NULL;
}

/* The row of a word such as "lines", "lin" or "nolines"; *on is false for the last. */
static const struct row *find_word(const char *name, size_t len, bool *on)
{
	int hits, unused;
	const struct row *row = find(name, len, &hits);
	*on = true;
	if (!hits && len > 2 && !strncasecmp(name, "no", 2)) {
		size_t skip = 2 + (name[2] == '-');
		row = find(name + skip, len - skip, &unused);
		*on = false;
	}
	if (!row)
		say("%s option --%.*s; see jprof --help", hits ? "ambiguous" : "unknown", (int)len, name);
	return row;
}

static bool set_number(size_t *to, const struct row *row, const char *text)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || !n) {
		say("--%s=%s: give a whole number above 0", row->name, text);
		return false;
	}
	*to = n;
	return true;
}

static bool set_fold(enum jprof_fold *to, const struct row *row, const char *text)
{
	static const char *const names[] = { "none", "alloc", "vm" };
	for (int i = 0; i < 3; i++)
		if (!strcasecmp(text, names[i])) {
			*to = (enum jprof_fold)i;
			return true;
		}
	say("--%s=%s: give alloc, vm or none", row->name, text);
	return false;
}

/* One of a group at most: two that differ are a mistake. */
static bool set_choice(int *to, const struct row *row, const struct row **chosen)
{
	const struct row *before = chosen[row - rows];
	for (int i = 0; i < row_count; i++)
		if (rows[i].group && !strcmp(rows[i].group, row->group)) {
			if (chosen[i])
				before = chosen[i];
			chosen[i] = row;
		}
	if (before && before != row) {
		say("--%s and --%s exclude each other", before->name, row->name);
		return false;
	}
	*to = row->value;
	return true;
}

/* --nolines takes --lines back: the first of the group holds again. */
static bool unset_choice(struct options *o, const struct row *row, const struct row **chosen)
{
	const struct row *first = NULL;
	for (int i = 0; i < row_count; i++) {
		if (!rows[i].group || strcmp(rows[i].group, row->group))
			continue;
		first = first ? first : &rows[i];
		if (chosen[i] != row)
			continue;
		chosen[i] = NULL;
		*(int *)((char *)o + row->at) = first->value;
	}
	return true;
}

static bool takes_argument(const struct row *row)
{
	return row->argument != NULL;
}

static bool apply(struct options *o, const struct row *row, bool on, const char *argument, const struct row **chosen)
{
	void *member = (char *)o + row->at;
	switch (row->kind) {
	case SWITCH: *(bool *)member = on; return true;
	case CHOICE: return set_choice(member, row, chosen);
	case TEXT: *(const char **)member = argument; return true;
	case NUMBER: return set_number(member, row, argument);
	case FOLD: return set_fold(member, row, argument);
	case NOTHING: return true;
	case REFUSED: say("--%s is not taken: %s", row->name, row->help); return false;
	case LATER:
		say("--%s is not in this version, which writes text, collapsed stacks, raw profiles and profile.proto",
		    row->name);
		return false;
	}
	return false;
}

/* argv[*i] is an option; its argument may be the next word. */
static bool parse_one(struct options *o, int argc, char **argv, int *i, const struct row **chosen)
{
	const char *name = argv[*i] + 1 + (argv[*i][1] == '-'), *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	bool on;
	const struct row *row = find_word(name, len, &on);
	if (!row)
		return false;
	if (!on && row->kind == CHOICE)
		return unset_choice(o, row, chosen);
	const char *argument = equals ? equals + 1 : NULL;
	if (takes_argument(row) && !argument)
		argument = *i + 1 < argc ? argv[++*i] : NULL;
	if (takes_argument(row) != (argument != NULL) && row->kind != LATER && row->kind != REFUSED) {
		say(argument ? "--%s takes no value" : "--%s needs a value; see jprof --help", row->name);
		return false;
	}
	if (!on && row->kind != SWITCH) {
		say("--no%s: --%s cannot be negated", row->name, row->name);
		return false;
	}
	return apply(o, row, on, argument, chosen);
}

bool options_parse(struct options *o, int argc, char **argv)
{
	const struct row *chosen[row_count] = { NULL };
	bool only_operands = false;
	o->operands = argv + 1;
	for (int i = 1; i < argc; i++) {
		if (!only_operands && !strcmp(argv[i], "--"))
			only_operands = true;
		else if (only_operands || argv[i][0] != '-' || !argv[i][1])
			o->operands[o->operand_count++] = argv[i];
		else if (!parse_one(o, argc, argv, &i, chosen))
			return false;
	}
	if (o->base && o->diff_base) {
		say("--base and --diff_base exclude each other");
		return false;
	}
	return true;
}

static void help_row(const struct row *row)
{
	char left[64];
	snprintf(left, sizeof left, "--%s%s%s", row->name, row->argument ? "=" : "",
	         row->argument ? row->argument : "");
	printf("  %-22s ", left);
	for (const char *p = row->help; *p; p++) {
		putchar(*p);
		if (*p == '\n')
			printf("  %-22s ", "");
	}
	putchar('\n');
}

void options_help(void)
{
	printf(
	    "usage: jprof [OPTIONS] [PROGRAM] DUMP...   where the memory of a process is, from heap profiles\n"
	    "       jprof info [OPTIONS] DUMP...        what a dump holds, and how sure its names are\n"
	    "\n"
	    "PROGRAM may be left out: the dump itself names the files that it ran from.\n"
	    "Several dumps are added up. \"-\" is standard input. A dump is heap_v2, a symbolized file, gperftools'\n"
	    "text, or profile.proto, each compressed or not.\n"
	    "\n");
	for (int i = 0; i < row_count; i++)
		if (rows[i].help && rows[i].kind != REFUSED)
			help_row(&rows[i]);
	printf("\n"
	       "  jprof --show_bytes ruby app.1.heap\n"
	       "  jprof --lines --cum --top=20 app.1.heap\n"
	       "  jprof --diff_base=app.1.heap ruby app.2.heap\n");
}
