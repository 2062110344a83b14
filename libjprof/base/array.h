/* Growable arrays: a pointer, a count kept by the caller, and a capacity. */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/* Makes room for `need` elements of `size` bytes in *items; *cap is updated.
 * Returns 0, or -1 when memory is short or the size overflows (nothing changes then). */
int jp_array_reserve(void *items, size_t *cap, size_t need, size_t size) jp_must_check;

/* Gives back the room beyond `count` elements, as far as there is any. */
void jp_array_trim(void *items, size_t *cap, size_t count, size_t size);

/* Reserves room for one more element of the array `items` with `count` and `cap`. */
#define jp_array_push(items, count, cap)                                                                               \
	((size_t)(count) < (cap) ? 0 : jp_array_reserve(&(items), &(cap), (size_t)(count) + 1, sizeof *(items)))
