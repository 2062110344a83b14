/* Columns of numbers of a page, as bytes that stand behind its JSON: docs/internals/page.md has their form. */
#pragma once

#include "base/intern.h"
#include "base/strbuf.h"

/* Zero bytes are none, and ready for use. */
struct jp_page_columns {
	struct jp_intern list; /* the bytes of each: equal ones are one */
	struct jp_strbuf text; /* of the one under way */
	bool failed;           /* memory was short */
};

/* An id by its place. */
typedef uint32_t jp_page_id_fn(const void *of, size_t i);

/* Each adds a column, and returns its number: of ids, as steps where they mostly grow a little; of numbers, rounded to
 * whole ones (scale 1) or hundredths (100), and 0 for what is none or infinite. */
uint32_t jp_page_ids(struct jp_page_columns *columns, bool steps, size_t count, jp_page_id_fn *id, const void *of);
uint32_t jp_page_numbers(struct jp_page_columns *columns, unsigned scale, size_t count, const double *numbers);

void jp_page_columns_release(struct jp_page_columns *columns);
