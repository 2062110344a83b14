/* What the tests of formats share: cmocka with its headers, and profiles made from text. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"
#include "testing.h"

/* A profile that must be read, and one that must not be: then the error's text is checked for `part`. */
struct jprof_profile *must_parse(const void *data, size_t len, const struct jprof_profile_opts *opts);
void must_refuse(const void *data, size_t len, const char *part);

/* For profiles whose names are all their own: files are looked for where there are none, not on this machine. */
extern const struct jprof_symbolize_opts no_files_here;

/* A view by bytes that must be made, and what jprof_render writes of one. */
struct jprof_view *folded(const struct jprof_profile *profile, enum jprof_fold fold);
struct jp_strbuf rendered(const struct jprof_profile *profile, const char *format, bool normalize,
                          enum jprof_fold fold);

/* The cumulative value of a row in a view, of which size and fold are filled in; -1: there is no such row. */
double cum_of_row(const struct jprof_profile *profile, struct jprof_view_opts asked, const char *row);

/* All of a file; fails the test if it cannot be read. */
struct jp_strbuf whole_file(const char *path);

/* Fails unless exactly one note holds `part`. */
void assert_noted(const struct jprof_profile *profile, const char *part);

/* Fails unless both profiles have the same rows in all granularities, for all counters, with short names
 * and (if `full`) with long ones, with each choice of Ruby's frames. By address only if `addresses`. `a` is folded;
 * `b`, which was written so, is not. */
void assert_same_rows(const struct jprof_profile *a, const struct jprof_profile *b, bool full, bool addresses,
                      enum jprof_fold fold, const char *what);
