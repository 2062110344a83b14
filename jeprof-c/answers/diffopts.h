/* The options of `jprof diff` and `jprof check`. */
#pragma once

#include "cli/typed.h"
#include "report/options.h"

/* What a row is, in the order of --by's words. */
enum diff_by { BY_FUNCTION, BY_LINE, BY_FILE, BY_LIB, BY_GROUP, BY_TAG, BY_STACK, BY_SIZE, BY_REFERRER, BY_USUAL = -1 };

enum diff_output { AS_TEXT, AS_JSON, AS_CSV, AS_MARKDOWN, AS_HTML };

struct diff_options {
	struct options common; /* where names are looked for, filters, rows at most; and the operands */
	int by;                /* enum diff_by */
	bool may_group;        /* where --by leaves it open, rows may be groups that say more; not for a gate */
	enum diff_output output;
	bool objects;   /* which of Ruby's objects were born, by graphs of them */
	bool assume_gc; /* Ruby collected its garbage before each snapshot, though nothing says so */

	/* Of check alone. */
	const char *max_growth, *max_total, *max_unreachable; /* as given; NULL: not */
	const char *baseline;
	bool update_baseline, github;
};

/* Reads argv[1..]; `check` takes its own options, too. False after having said what is wrong. */
bool diff_options_parse(struct diff_options *options, bool check, int argc, char **argv);

/* The name of the format in which the answer is written. Static. */
const char *diff_format(const struct diff_options *options);

/* Adds the options of both commands that say what a row is, and which part is shown. */
void diff_add_rows(struct typed *command, const struct diff_options *options);

/* Print the options for people. */
void diff_help(void);
void check_help(void);
