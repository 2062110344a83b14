/* Unpacking what is in memory as a whole, where its size is known before: by libdeflate, or by zlib where jprof was
 * built without. */
#ifndef JP_INPUT_INFLATE_H
#define JP_INPUT_INFLATE_H

#include <stddef.h>

/* Unpacks a stream of zlib's format that unpacks to exactly `size` bytes, and behind which nothing comes: libelf takes
 * no section with more. 1; 0: it is none; -1 when memory is short. */
int jp_inflate(const void *packed, size_t len, void *out, size_t size);

#endif
