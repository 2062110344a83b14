/* An answer before it is text: a function fills it with what it has to say, part behind part, and walkers make text of
 * it. A terminal gets all of it in lines; a page takes single roles. */
#pragma once

#include <stdio.h>

#include "base/strbuf.h"

enum answer_role {
	ANSWER_HEAD,     /* what was looked at: a paragraph */
	ANSWER_SENTENCE, /* what there is to say of it: a paragraph below a blank line */
	ANSWER_NOTE,     /* what else is to be known: likewise. Without text it is the blank line alone */
	ANSWER_MORE,     /* a paragraph right below the part before */
	ANSWER_LINES,    /* whole lines, to be copied as they are */
	ANSWER_DETAIL,   /* has a word for what it is in front of it: "pace", "27 MB an hour" */
	ANSWER_ASIDE,    /* the same at the margin: "limit", "5 MB for each row" */
	ANSWER_TABLE,    /* the heading of the rows that follow, below a blank line */
	ANSWER_ROW,      /* begins a row of cells: */
	ANSWER_AMOUNT,   /* bytes, in MB */
	ANSWER_SHARE,    /* in percent */
	ANSWER_GROWTH,   /* bytes with their sign */
	ANSWER_WORDS,    /* text; its number is half of a 95 % interval in bytes, which stands behind it */
	ANSWER_ENTRY,    /* of a list at the end of a row: a name with its bytes. Those that fit are shown */
};

struct answer_part {
	enum answer_role role;
	size_t at;    /* where its text begins in that of the answer; it ends in NUL */
	double value; /* NAN: not known, or it has none */
	const char *label;
	unsigned gives; /* as the answer's when it was added */
};

/* All zero is an empty answer. Where memory is short it is noted (cli/shortage.h), and parts are missing. */
struct answer {
	struct jp_strbuf text;
	struct answer_part *parts;
	size_t count, cap;
	unsigned gives; /* of the parts that are added next: where lines are few, the higher go first; 0 stays */
};

/* Adds a part. Its text is what the caller writes into what this returns, until the next part. */
struct jp_strbuf *answer_add(struct answer *answer, enum answer_role role);
struct jp_strbuf *answer_add_value(struct answer *answer, enum answer_role role, double value);

/* A detail or an aside; the word lives as long as the answer. */
struct jp_strbuf *answer_add_labelled(struct answer *answer, enum answer_role role, const char *label);
struct jp_strbuf *answer_add_detail(struct answer *answer, const char *label);

/* For readers: the text of a part. */
const char *answer_text(const struct answer *answer, size_t part);

/* The texts of all parts of a role, with blanks between them: for free(); NULL when memory is short. */
char *answer_joined(const struct answer *answer, enum answer_role role);

/* Writes all of it in lines of so many columns. */
void answer_put_text(FILE *out, const struct answer *answer, unsigned columns);

enum { answer_gives_most = 10 };

/* Whether something gives way then. */
bool answer_gives(const struct answer *answer, unsigned thrift);

/* Writes of it what does not give way with so much thrift (cli/thrift.h), 0 to answer_gives_most; no line is longer
 * than so many columns. */
void answer_put_some(FILE *out, const struct answer *answer, unsigned columns, unsigned thrift);

/* A paragraph alone, which it releases. */
void answer_put_paragraph(FILE *out, struct jp_strbuf *text, unsigned columns);

void answer_release(struct answer *answer);
