/* Numbers as the reports write them. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"

/* A number in words, by value: jp_shown_value(n, unit).text may be an argument of the call that writes it. */
struct jp_cell {
	char text[64];
};

/* What numbers for people are in; a KB has 2^10 bytes, a MB 2^20, a GB 2^30. */
enum jp_unit { JP_OBJECTS, JP_BYTES, JP_KB, JP_MB, JP_GB };

enum jp_unit jp_unit_of(const struct jprof_view *view, const struct jprof_report_opts *opts);

/* The one in which a number of bytes has two to four digits before the point, as far as there is one. */
enum jp_unit jp_fitting_unit(double bytes);

/* "objects", "B", "KB", "MB" or "GB", and how many bytes it is; of objects 1. */
const char *jp_unit_name(enum jp_unit unit);
double jp_unit_size(enum jp_unit unit);

/* Objects and bytes are cut to whole numbers, as jeprof does; larger units have one place. */
struct jp_cell jp_shown_value(double value, enum jp_unit unit);

/* The same, but "." for 0, as jeprof has it beside source lines. */
struct jp_cell jp_shown_value_or_dot(double value, enum jp_unit unit);

/* The mean size of objects as one word: "64B", "3.1KB", with show_bytes "3174"; "?": not known. */
struct jp_cell jp_shown_mean(double mean, bool show_bytes);

/* What is 100 %. Of a base something may be many times, which is no share: above 100 % that is written "2.5x". */
struct jp_scale {
	double whole;
	bool of_base;
};

struct jp_scale jp_scale_of(const struct jprof_view *view);

struct jp_cell jp_shown_percent(double value, struct jp_scale scale);

/* jeprof's five columns before a name: flat and its share, the share of `sum`, cum and its share; then a blank. */
void jp_put_columns(double flat, double sum, double cum, struct jp_scale scale, enum jp_unit unit,
                    struct jp_strbuf *out);
