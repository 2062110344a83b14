/* Unpacking what is in memory as a whole, where its size is known before: by libdeflate, or by zlib where jprof was
 * built without. */
#pragma once

#include <stddef.h>

/* Unpacks a stream of zlib's format that unpacks to exactly `size` bytes, and behind which nothing comes: libelf takes
 * no section with more. 1; 0: it is none; -1 when memory is short. */
int jp_inflate(const void *packed, size_t len, void *out, size_t size);
