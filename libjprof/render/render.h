/* Renderers: each turns a view into text, and is one row of the table in render.c. */
#pragma once

#include "base/strbuf.h"
#include "view/view.h"

/* Appends the report to `out`, which is drained between its parts. */
typedef int jp_render_fn(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                         struct jprof_error *err);

/* As the options and the fields of JSON are called. */
extern const char *const jp_counter_names[JPROF_COUNTERS];
extern const char *const jp_source_names[JPROF_SOURCES];

/* What is 100 %. */
double jp_whole(const struct jprof_view *view);

/* The next of several whole numbers for estimates: adds `value` to *sum and returns by how much its whole part grew,
 * so that they sum up to the whole part of the sum, which is what --show_bytes prints. None has the other sign. */
double jp_whole_step(double *sum, double value);

/* What the program says after an advice. */
static inline const char *jp_advice_words(const struct jprof_report_opts *opts, enum jprof_advice advice)
{
	const char *words = opts->advice_words ? opts->advice_words(advice) : NULL;
	return words ? words : "";
}

/* Hands over what is left of a report that is complete; tells what went wrong on the way. */
int jp_report_end(struct jp_strbuf *out, struct jprof_error *err);

jp_render_fn jp_render_text;       /* jeprof's table */
jp_render_fn jp_render_collapsed;  /* stacks for flame graphs */
jp_render_fn jp_render_csv;        /* the table for spreadsheets */
jp_render_fn jp_render_json;       /* the table and all about it: docs/internals/json.md */
jp_render_fn jp_render_speedscope; /* speedscope's own JSON */
jp_render_fn jp_render_dhat;       /* DHAT's JSON, for dh_view.html */
jp_render_fn jp_render_raw;        /* a symbolized file */
jp_render_fn jp_render_proto;      /* profile.proto, gzip'd */
jp_render_fn jp_render_callgrind;  /* for kcachegrind */
jp_render_fn jp_render_disasm;     /* machine code with values */
jp_render_fn jp_render_list;       /* source with values */
jp_render_fn jp_render_peek;       /* callers and callees of chosen functions */
jp_render_fn jp_render_sizes;      /* a histogram of object sizes */
jp_render_fn jp_render_traces;     /* stacks */
jp_render_fn jp_render_flame;      /* a flame graph */
jp_render_fn jp_render_html;       /* a page for a browser */
jp_render_fn jp_render_tree;       /* calls from the roots on */

/* profile.proto with all locations at the addresses of the process, and without samples. */
int jp_render_names(const struct jprof_profile *profile, struct jp_strbuf *out, struct jprof_error *err);
