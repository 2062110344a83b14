/* Sorts ids where they lie: qsort_r may take as much memory again, and ids are there by the million. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Below 0, 0 or above 0, as for qsort_r. No two of the ids may be equal. */
typedef int jp_id_order_fn(uint32_t a, uint32_t b, const void *context);

void jp_sort_ids(uint32_t *ids, size_t count, jp_id_order_fn *order, const void *context);
