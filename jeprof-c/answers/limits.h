/* What may grow by how much: limits, and the baseline of what was accepted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "answers/measure.h"
#include "jprof.h"

/* "10MB", "5%": one of the two. */
struct growth_limit {
	double bytes;
	double share; /* of the first value; 0: it is in bytes */
};

/* False after having said what is wrong with the value of that option. */
bool limit_parse(const char *option, const char *text, struct growth_limit *limit);

/* The bytes that a row, or all memory, of this first value may grow by. A share is 1 MB at least: what is new has no
 * first value, and may not grow without end. */
double limit_bytes(const struct growth_limit *limit, double first);

/* "10 MB", "5 %". */
struct measured limit_words(const struct growth_limit *limit);

/* An entry of a baseline. Texts are owned by it. */
struct accepted_row {
	char *library, *file, *method; /* the key; "" where there is none */
	double bytes;                  /* the growth that was accepted */
	char *comment;
	bool matched; /* a row of this series had it */
};

struct accepted_rows {
	struct accepted_row *items;
	size_t count;
};

/* The file's entries; a file that is not there has none, if `must_exist` is false. False after having said what is
 * wrong. To be released in either case. */
bool baseline_read(struct accepted_rows *rows, const char *path, bool must_exist);

/* Replaces the file. False after having said what is wrong. */
bool baseline_write(const struct accepted_rows *rows, const char *path);

/* The entry for a row, by library or "application", file and method without line numbers; NULL: there is none. */
struct accepted_row *baseline_find(const struct accepted_rows *rows, const struct jprof_grown *row);

/* Accepts the growth of a row: it has an entry then. False when memory is short. */
bool baseline_accept(struct accepted_rows *rows, const struct jprof_grown *row);

void baseline_release(struct accepted_rows *rows);
