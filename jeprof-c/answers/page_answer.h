/* What stands over the pictures of a page: docs/internals/page.md has the format. */
#pragma once

#include "answers/diff_text.h"
#include "answers/explain_words.h"
#include "report/load.h"

/* What a page shows. */
struct page {
	const struct options *options;
	const struct inputs *inputs;
	const struct inputs *snapshots;    /* all of those that are compared; NULL: no more than the pictures are of */
	const struct loaded *loaded;       /* what the pictures are of */
	const struct loaded *memory;       /* where all of its memory is said, too; NULL: that is not known */
	const struct explained *explained; /* the answer of explain; NULL: page_put() makes what `memory` needs */
	const struct diff_report *diff;    /* what grew; NULL: nothing is compared, or by --base alone */
	bool explains;                     /* its answer is that of explain */
	bool silent;                       /* what it holds is not said */
};

/* Whether the page has each part of Ruby to choose from: filters look at what --ruby leaves, so a page of another part
 * that is filtered stays with it. */
bool page_offers_ruby(const struct options *options);

/* As JSON; `view` is that of the report, `processes` what page_processes made. For free(); NULL when memory is short.
 */
char *page_answer(const struct page *page, const struct jprof_view *view, const char *processes);
