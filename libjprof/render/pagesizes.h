/* The sizes of objects in stacks of a page that hold several. */
#pragma once

#include "base/jsonout.h"
#include "view/view.h"

/* Stacks that differ in addresses alone are one in a page, but may have allocated objects of different sizes. Writes
 * the member "sizes": {inuse, alloc}, each {stack, limit, bytes, objects} of those stacks, columns of equal length; of
 * all others the mean says as much. `of`: which stack of the page those of the view are. 0, or -1 when memory is short.
 */
int jp_put_page_sizes(struct jp_jsonout *json, const struct jprof_view *view, const uint32_t *of) jp_must_check;
