/* What stands over the pictures of a page: docs/html.md has the format. */
#ifndef JEPROF_PAGE_ANSWER_H
#define JEPROF_PAGE_ANSWER_H

#include "answers/diff_text.h"
#include "answers/explain_words.h"
#include "report/load.h"

/* What a page shows. */
struct page {
	const struct options *options;
	const struct inputs *inputs;
	const struct loaded *loaded;       /* what the pictures are of */
	const struct explained *explained; /* where all memory is; NULL: not known */
	const struct diff_report *diff;    /* what grew; NULL: nothing is compared, or by --base alone */
	bool explains;                     /* its answer is that of explain */
};

/* As JSON; `view` is that of the report. For free(); NULL when memory is short. */
char *page_answer(const struct page *page, const struct jprof_view *view);

#endif
