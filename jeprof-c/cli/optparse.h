/* Options of a command line, from a table: one table makes the parser and the help. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum opt_kind {
	OPT_SWITCH,  /* a bool; --noX clears it */
	OPT_CHOICE,  /* an enum becomes `value`; at most one of a group */
	OPT_NAME,    /* likewise a const char *, which becomes the option's name. With an `argument`, that goes
	                to the offset `value` */
	OPT_TEXT,    /* --x=TEXT: a const char * */
	OPT_MAYBE,   /* --x or --x=TEXT: a const char *, which becomes "" without a value */
	OPT_NUMBER,  /* --x=N: a size_t above 0 */
	OPT_COUNT,   /* --x=N: a size_t, which may be 0 */
	OPT_SHARE,   /* --x=F: a double from 0 to 1 */
	OPT_WORD,    /* --x=one|two: an enum becomes the word's place in `argument`, from 0 */
	OPT_NOTHING, /* accepted: it is what happens anyway */
	OPT_REFUSED, /* not taken: `help` says why, or what to give instead */
	OPT_HEADING, /* no option: `help` stands above those that follow, in the help of the commands in `value` */
};

struct opt_row {
	const char *name;
	enum opt_kind kind;
	size_t at; /* offset in the struct of options */
	int value;
	const char *group;    /* of OPT_CHOICE and OPT_NAME */
	const char *argument; /* NULL: takes none */
	const char *help;     /* one line, which is broken to fit; NULL: not listed */
};

struct opt_table {
	const struct opt_row *rows;
	size_t count;
	const char *help; /* the command that prints the help, for messages */
	const char *const
	    *first;   /* names, up to NULL: what begins one of them means it, whatever else begins so; or NULL */
	bool command; /* the first operand ends the options: what follows is a command line of its own */
};

/* Reads argv[1..]; operands are moved to its front, in order, and *operand_count says how many there are:
 * the first is argv[1]. Spelling is as jeprof takes it: one or two dashes, unique prefixes, any case, --noX for
 * switches, options among operands, "--" ends them; and "-" is "_". False after having said what is wrong. */
bool opt_parse(const struct opt_table *table, void *options, int argc, char **argv, int *operand_count);

/* The place of `text` among `words` parted by "|", from 0, in any case; -1 if it is none of them. */
int opt_word(const char *words, const char *text);

/* Prints the rows that have a help, 80 columns wide. `commands` has the bits of a heading's value, of which one must be
 * set; rows above the first heading are always printed. */
void opt_help(const struct opt_table *table, int commands);
