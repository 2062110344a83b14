/* The column of --errors at the end of a text report's rows. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"
#include "render/values.h"

struct jp_error_column;

/* Lays the column out for the rows of a table: names of up to 60 bytes, errors, intervals and
 * sample counts are padded to the longest. NULL when memory is short. */
struct jp_error_column *jp_error_column_new(const struct jprof_table *table, enum jp_unit unit);

/* Appends the column of the i-th row, whose name ends the text so far and began `name_len` bytes
 * before the end. */
void jp_error_column_put(const struct jp_error_column *column, size_t i, size_t name_len, struct jp_strbuf *out);

/* How many columns of a terminal it takes at most, behind the name. */
size_t jp_error_column_width(const struct jp_error_column *column);

void jp_error_column_free(struct jp_error_column *column);

/* Appends the line "Total: VALUE UNIT", what the total is of, where it is not 100 % what is, and in a view with errors
 * how far it may be off. Nothing if it is 0. */
void jp_put_total(const struct jprof_view *view, const struct jprof_report_opts *opts, enum jp_unit unit,
                  struct jp_strbuf *out);

/* What a reader has to know of a number before all else: " (within error)", " (few samples)", or "". That there may be
 * no change at all comes first. */
const char *jp_doubt(const struct jprof_range *range);

/* Appends the standard error of one value: "+-0.26", "+-0.26 (few samples)", "+-?" where it is not known, "-" for
 * nothing. */
void jp_error_put(const struct jprof_range *range, double value, enum jp_unit unit, struct jp_strbuf *out);
