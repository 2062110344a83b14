/* Renderers: each turns a profile into text, and is one row of the table in render.c. */
#ifndef JP_RENDER_RENDER_H
#define JP_RENDER_RENDER_H

#include "base/strbuf.h"
#include "jprof.h"

/* Appends the report to `out`. */
typedef int jp_render_fn(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                         struct jprof_error *err);

jp_render_fn jp_render_text;  /* jeprof's table */
jp_render_fn jp_render_proto; /* profile.proto, gzip'd */

#endif
