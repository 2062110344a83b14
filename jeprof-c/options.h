/* The command line: one table makes the parser and --help. */
#ifndef JEPROF_OPTIONS_H
#define JEPROF_OPTIONS_H

#include "jprof.h"

/* What is written. */
enum report_mode { REPORT_TEXT, REPORT_PROTO };

struct options {
	bool help;
	bool version;
	enum jprof_granularity granularity;
	enum jprof_counter counter;
	enum jprof_fold fold;
	enum report_mode mode;
	const char *output;
	bool normalize;
	bool cum;
	bool show_bytes;
	bool full_names;
	size_t top;
	const char *base;
	const char *diff_base;
	const char *maps;
	const char *sysroot;
	const char *lib_prefix;
	char **operands; /* what is no option, in order; part of argv */
	int operand_count;
};

/* Reads argv[1..], which is reordered. Spelling is as jeprof takes it: one or two dashes, unique
 * prefixes, any case, --noX for switches, options among operands, "--" ends them.
 * False after having said what is wrong. */
bool options_parse(struct options *options, int argc, char **argv);

/* Prints the table for people. */
void options_help(void);

#endif
