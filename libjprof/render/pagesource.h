/* The source of the lines that hold most, as a page has it. */
#pragma once

#include "base/jsonout.h"
#include "render/pagestacks.h"

/* Writes the member "source": excerpts of files, each {file, first, lines}, or {file, why} of a file that is not to be
 * read. `of` says which stacks of the page those of the view are. 0, or -1 when memory is short. */
int jp_put_page_source(struct jp_jsonout *json, const struct jp_page_stacks *stacks, const struct jp_page_names *names,
                       const uint32_t *of, const struct jprof_report_opts *opts) jp_must_check;
