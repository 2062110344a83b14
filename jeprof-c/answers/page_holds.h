/* What a page has in it that its reader may not be meant to see. */
#ifndef JEPROF_PAGE_HOLDS_H
#define JEPROF_PAGE_HOLDS_H

#include "answers/page_answer.h"

/* Says how many lines of source and which tags a page has, for pages are passed on. */
void page_say_holds(const struct page *page, const struct options *options, const struct jprof_page_source *source);

#endif
