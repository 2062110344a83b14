/* Numbers with one place, which stand in each row of most reports: printf takes most of a large one's time for them. */
#pragma once

#include <stddef.h>

enum { jp_tenths_size = 48 };

/* The text that "%.1f" has in the C locale, rounded as there: to the nearest, of two to the even one, by the exact
 * value of the double. `text` has room for `size` bytes, jp_tenths_size at least; a longer number is cut. Returns the
 * length. */
size_t jp_put_tenths(char *text, size_t size, double value);

/* Likewise "%.0f" of a value that is cut to a whole number before. */
size_t jp_put_whole(char *text, size_t size, double value);
