/* What a page is made of, as JSON and, behind a NUL, columns of numbers: docs/internals/page.md has the format. */
#pragma once

#include "render/render.h"

int jp_put_page_data(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err);
