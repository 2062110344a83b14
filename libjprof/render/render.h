/* Renderers: each turns a profile into text, and is one row of the table in render.c. */
#ifndef JP_RENDER_RENDER_H
#define JP_RENDER_RENDER_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Appends the report to `out`. */
typedef int jp_render_fn(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                         struct jprof_error *err);

/* Whether a sample belongs to the view's thread. */
bool jp_in_view(const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                const struct jp_sample *sample);

/* As the options and the fields of JSON are called. */
extern const char *const jp_counter_names[JPROF_COUNTERS];
extern const char *const jp_source_names[JPROF_SOURCES];

bool jp_counts_bytes(enum jprof_counter counter);

/* What the view's counter sums up to, over the stacks of its thread, dropped ones too. */
double jp_view_total(const struct jprof_profile *profile, const struct jprof_view_opts *opts);

/* The same for what was subtracted; `thread` NULL: all. */
double jp_base_total(const struct jprof_profile *profile, enum jprof_counter counter, const char *thread);

/* The view of the i-th thread alone. */
struct jprof_view_opts jp_view_of_thread(const struct jprof_profile *profile, const struct jprof_view_opts *all,
                                         size_t thread);

/* The next of several whole numbers for estimates of 0 or more: adds `value` to *sum and returns by how much its
 * whole part grew, so that they sum up to the whole part of the sum. */
double jp_whole_step(double *sum, double value);

jp_render_fn jp_render_text;           /* jeprof's table */
jp_render_fn jp_render_collapsed;      /* stacks for flame graphs */
jp_render_fn jp_render_diff_collapsed; /* the same with both sides of a difference */
jp_render_fn jp_render_csv;            /* the table for spreadsheets */
jp_render_fn jp_render_json;           /* the table and all about it: docs/json.md */
jp_render_fn jp_render_json_info;      /* all about it */
jp_render_fn jp_render_speedscope;     /* speedscope's own JSON */
jp_render_fn jp_render_dhat;           /* DHAT's JSON, for dh_view.html */
jp_render_fn jp_render_raw;            /* a symbolized file */
jp_render_fn jp_render_proto;          /* profile.proto, gzip'd */

/* profile.proto with all locations at the addresses of the process, and without samples. */
int jp_render_names(const struct jprof_profile *profile, struct jp_strbuf *out, struct jprof_error *err);

#endif
