/* Numbers as the reports write them. */
#ifndef JP_RENDER_VALUES_H
#define JP_RENDER_VALUES_H

#include "base/strbuf.h"
#include "jprof.h"

enum { jp_cell = 64 };

/* "objects", "B" or "MB" (2^20 bytes). */
const char *jp_unit(const struct jprof_view_opts *opts);

/* Objects and bytes are cut to whole numbers, as jeprof does; MB have one place. */
void jp_put_value(char text[jp_cell], double value, const struct jprof_view_opts *opts);

/* The same, but "." for 0, as jeprof has it beside source lines. */
void jp_put_value_or_dot(char text[jp_cell], double value, const struct jprof_view_opts *opts);

void jp_put_percent(char text[jp_cell], double value, double whole);

/* jeprof's five columns before a name: flat and its share, the share of `sum`, cum and its share; then a blank. */
void jp_put_columns(double flat, double sum, double cum, double whole, const struct jprof_view_opts *opts,
                    struct jp_strbuf *out);

/* The line "Total: VALUE UNIT"; with opts->errors it ends in how far that may be off. Nothing if it is 0. */
void jp_put_total(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out);

#endif
