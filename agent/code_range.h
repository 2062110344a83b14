/* Where a function begins and ends, by the table that every object file brings for unwinding. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_range {
	uintptr_t begin, end;
};

/* The function that holds the address, of the object file mapped at `image` by its own headers. False where the table
 * is missing, has another form than GNU's linkers give it, or ends before. Its last function is not found. Takes no
 * lock. */
bool code_range_find(const void *image, uintptr_t address, struct code_range *range);

static inline bool code_range_has(const struct code_range *range, uintptr_t address)
{
	return address - range->begin < range->end - range->begin;
}
