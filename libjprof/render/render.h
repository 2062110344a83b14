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

jp_render_fn jp_render_text;      /* jeprof's table */
jp_render_fn jp_render_collapsed; /* stacks for flame graphs */
jp_render_fn jp_render_raw;       /* a symbolized file */
jp_render_fn jp_render_proto;     /* profile.proto, gzip'd */

jp_render_fn jp_render_callgrind; /* for kcachegrind */
jp_render_fn jp_render_disasm;    /* machine code with values */
jp_render_fn jp_render_list;      /* source with values */
jp_render_fn jp_render_peek;      /* callers and callees of chosen functions */
jp_render_fn jp_render_traces;    /* stacks */
jp_render_fn jp_render_tree;      /* calls from the roots on */

#endif
