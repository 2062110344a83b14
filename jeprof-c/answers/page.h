/* --html: the page of a report, of a difference, or of an explanation. */
#pragma once

#include "answers/page_answer.h"
#include "cli/sink.h"

/* Whether there can be a page with these options: it goes to a file or a browser, not to a terminal, and has rows of
 * that kind, an enum jprof_granularity or ROWS_USUAL. False after having said what to give instead. */
bool page_possible(const struct options *options, int rows);

/* Writes the page to the sink, or with --open and no -o to a file for the browser. False after having said what is
 * wrong. */
bool page_put(const struct page *page, struct sink *sink);

/* Closes the sink of a page, and with --open opens it. The exit status. */
int page_end(const struct options *options, struct sink *sink, bool good);

/* Where the memory is that a profile is of; `change` may be NULL. NULL: it cannot be said, or memory is short. */
struct jprof_explanation *page_explanation(const struct loaded *now, const struct loaded *change);
