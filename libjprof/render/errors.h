/* The column of --errors at the end of a text report's rows. */
#ifndef JP_RENDER_ERRORS_H
#define JP_RENDER_ERRORS_H

#include "base/strbuf.h"
#include "jprof.h"

struct jp_error_column;

/* Lays the column out for the rows of a table: names of up to 60 bytes, errors, intervals and
 * sample counts are padded to the longest. NULL when memory is short. */
struct jp_error_column *jp_error_column_new(const struct jprof_table *table, const struct jprof_view_opts *opts);

/* Appends the column of the i-th row, whose name ends the text so far and began `name_len` bytes
 * before the end. */
void jp_error_column_put(const struct jp_error_column *column, size_t i, size_t name_len, struct jp_strbuf *out);

void jp_error_column_free(struct jp_error_column *column);

/* Appends what the line "Total:" has to say of its error; `unit` is that of the line. */
void jp_error_total_put(const struct jprof_range *range, const char *unit, const struct jprof_view_opts *opts,
                        struct jp_strbuf *out);

/* Appends the standard error of one value: "+-0.26", "+-0.26 (noise)", "+-?" where it is not known, "-" for nothing. */
void jp_error_put(const struct jprof_range *range, double value, const struct jprof_view_opts *opts,
                  struct jp_strbuf *out);

#endif
