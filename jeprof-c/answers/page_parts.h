/* What there is to choose from in a page, beside all that it is of: two snapshots of a series that stand next to each
 * other, and single processes. */
#ifndef JEPROF_PAGE_PARTS_H
#define JEPROF_PAGE_PARTS_H

#include "answers/page_answer.h"

/* For jprof_report_opts: views as the page's own, by their keys. "0-1": from the first snapshot to the second;
 * "@NAME": the member of that name. */
struct page_parts {
	struct jprof_page_part *items;
	size_t count;
	struct loaded *loaded; /* by part */
	char **shown;          /* likewise: words for a process, or NULL */
};

/* Loads them; `whole` are the options of the page's own view. False after having said what is wrong. To be released in
 * either case. */
bool page_parts_load(struct page_parts *parts, const struct page *page, const struct options *whole);

/* The processes that the page can show alone, as JSON: keys and words. For free(); NULL when memory is short. */
char *page_processes(const struct page_parts *parts);

void page_parts_release(struct page_parts *parts);

#endif
