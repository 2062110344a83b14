/* Binary search in arrays of structs that are sorted by their first member, a uint64_t. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many of `count` elements of `size` bytes have a first member below `key`: the index of the
 * first that has not. */
size_t jp_count_below(const void *items, size_t count, size_t size, uint64_t key);

/* The last element whose first member is at most `key`, or NULL. */
const void *jp_last_up_to(const void *items, size_t count, size_t size, uint64_t key);

/* How two values stand in ascending order: below 0, 0, or above. They are read twice. */
#define jp_order(x, y) (((x) > (y)) - ((x) < (y)))

/* Likewise, and where they are equal, by `then`, which is only read there. */
#define jp_order_by(x, y, then) ((x) != (y) ? jp_order(x, y) : (then))

/* For qsort and bsearch: such elements, or numbers of 64 bits; the second: of 32. */
int jp_by_first(const void *a, const void *b);
int jp_by_number(const void *a, const void *b);
