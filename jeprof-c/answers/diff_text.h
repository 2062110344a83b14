/* What `jprof diff` prints for people. */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "answers/linekeepers.h"
#include "answers/measure.h"
#include "answers/workers.h"
#include "cli/answer.h"

enum { diff_blocks = 3 }; /* suspects at most */

/* Thrift up to this one takes from the rows of a table, further thrift from the details of suspects. */
enum { thrift_of_rows = 2, thrift_of_diff = thrift_of_rows + answer_gives_most - 4 };

struct diff_report {
	const struct loaded_series *loaded;
	const struct diff_options *options;
	struct measure measure;  /* of what is shown */
	unsigned columns, lines; /* of the terminal; lines 0: there is none */
	unsigned thrift;         /* cli/thrift.h */
	bool colour;
	bool live;                               /* of a process that is watched: no files are named */
	struct worker_share shares[diff_blocks]; /* of diff_suspect()'s rows */
	struct line_keepers keepers;             /* by the last snapshot */
};

/* For what is printed: as wide and high as the terminal, if it goes to one; and who keeps what is said, if that can be
 * shown. To be closed. */
void diff_report_open(struct diff_report *report, const struct loaded_series *loaded,
                      const struct diff_options *options, const struct inputs *inputs);
void diff_report_close(struct diff_report *report);

/* The unit for a series, by all of its memory. */
struct measure diff_measure(const struct jprof_series *series);

/* Prints head, answer, suspects, table and what lies outside. */
void diff_put_text(FILE *out, const struct diff_report *report);

/* The same for a ticket: Markdown. */
void diff_put_markdown(FILE *out, const struct diff_report *report);

/* The head line, "shop: Puma, master and 2 workers, 11.7 hours between the snapshots"; the answer; and that with the
 * first suspect behind it. */
void diff_add_head(struct jp_strbuf *to, const struct diff_report *report);
void diff_add_answer(struct jp_strbuf *to, const struct diff_report *report);
void diff_add_short(struct jp_strbuf *to, const struct diff_report *report);

/* The next command to type, and the one that would give lines of Ruby. */
void diff_put_next(FILE *out, const struct diff_report *report);

/* Adds the command that makes a page of all of it. */
void diff_add_page(struct typed *next, const struct diff_report *report);

/* The head in lines of a terminal, where there is one. */
void diff_put_head(FILE *out, const struct diff_report *report);

/* The name of a snapshot's file, without directory and end; a byte of it is four characters at most. */
enum { snapshot_label_most = 4 * NAME_MAX + 1 };
void snapshot_label(const char *path, char label[snapshot_label_most]);

/* Half of the 95 % interval; NAN where a number is counted. */
double diff_half_interval(const struct jprof_range *range);

/* "+318 MB (+-17)" */
struct measured diff_growth_words(const struct diff_report *report, const struct jprof_grown *row);

/* Rows without a change worth a line of their own, where not all are wanted; what lies outside, and changed by less
 * than so many bytes, has none. */
bool diff_is_quiet(const struct jprof_grown *row);
extern const double diff_least_outside;

/* Below the table: what was freed while fragmentation grew; nothing where that is little. */
void diff_put_fragmentation(FILE *out, const struct diff_report *report);

/* Ends the line of a row's name, which begins in column `used`, with where that is in the source, if that is known: on
 * the same line, or on one of its own. */
void diff_put_source(FILE *out, const struct diff_report *r, const struct jprof_grown *row, size_t used);

/* What a row is called: a part that lies outside by its words. */
const char *name_of_grown(const struct jprof_grown *row);

/* The row that makes most of the growth, whatever its verdict; NULL: nothing grew for sure. */
const struct jprof_grown *diff_most_grown(const struct jprof_series *series);

/* Whether a row has more at the end than chance gives it; of one that is counted, than daily life does. */
bool diff_grew_for_sure(const struct jprof_grown *row);

/* The rows worth a block: leak suspects; where there are none, the first that grew. The i-th, from 0; NULL: no more. */
const struct jprof_grown *diff_suspect(const struct jprof_series *series, size_t i);

/* Fills in what the workers of a service have of the suspects. */
void diff_find_workers(struct diff_report *report, const struct inputs *inputs);

/* What there is to say of a suspect, each with a word for what it is; and that as lines. */
void diff_add_details(struct answer *answer, const struct diff_report *report, const struct jprof_grown *row);
void diff_put_details(FILE *out, const struct diff_report *report, const struct jprof_grown *row);

/* The sentence that what grew may be garbage, and what would tell. */
void diff_put_uncollected(FILE *out, const struct diff_report *report);

/* Rows that are whole stacks on a terminal have lines of their own for their callers. */
enum { diff_stack_lines = 2 };
bool diff_has_stack_lines(const struct diff_report *report);

/* What stands between a function and its caller in the name of such a row. */
extern const char diff_caller_mark[];

/* "          < BlockCache::get < Query::get": as many as fit in these lines. */
void diff_put_callers(FILE *out, const struct diff_report *report, const struct jprof_grown *row);
