/* The words of explain, and their keys in JSON: one table. */
#pragma once

#include "jprof.h"

enum { explain_columns = 80 }; /* of the text that goes elsewhere than to a terminal */

struct forks;
struct lost_lines;

/* What was explained. */
struct explained {
	const struct jprof_explanation *explanation;
	const char *path;    /* of the snapshot */
	const char *whose;   /* the service and its processes: whose_add() */
	const char *biggest; /* the line with most of malloc's memory, as a sentence; "": not known */
	const char *members; /* its processes in words; "": none is known */
	bool accumulated;    /* the dump has what was ever allocated: prof_accum */
	bool unreachable;    /* what no pointer was found to is asked for, and nothing else */
	bool lists_lost;     /* then: also the blocks, which are: */
	const char *lost;    /* their addresses and sizes in lines; NULL: none is known */
	bool live;           /* `path` is a process in words, which was snapped for this */
	bool ruby;           /* then: that is one */
	const char *why;     /* without a dump: why it gave none; "" */
	const char *outside; /* likewise: why its memory was not read, as a sentence; "" */
	bool refused;        /* likewise: nobody with these rights may read it */
	const char *remedy;  /* then: how it could be read, in lines; "" */
	const char *start;   /* what it is started by: "bundle exec puma", or "COMMAND" */
	const char
	    *gems; /* the command that says of which gem the compiled code is; "": that is little, or not known */
	const char *answer;        /* of two snapshots: what jprof diff says first, and its first row; or NULL */
	const char *next;          /* the next command to type; "": there is none */
	const char *lost_next;     /* the command that says to what no pointer was found; "": there is none */
	const struct forks *forks; /* what processes copied since their fork; NULL: that is not known */
	const char *lines;         /* the command that would give lines of Ruby; "": there is none, or they are there */

	const struct lost_lines *lost_lines; /* with `unreachable`: what allocated it */
};

struct part_words {
	const char *key;   /* in JSON */
	const char *words; /* in a row */
	const char *verb;  /* in a sentence: "118 MB (44 %) are live malloc memory" */
};

const struct part_words *words_of_part(enum jprof_part part);

/* The first row of a part; NULL: there is none. */
const struct jprof_explained *explain_part_of(const struct jprof_explanation *explanation, enum jprof_part part);

struct help_words {
	const char *key;
	const char *what; /* to do */
	const char *why;
};

/* The settings tell which reason holds. */
struct help_words words_of_help(const struct jprof_help *help, const struct jprof_settings *settings);
