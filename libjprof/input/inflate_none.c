#include <zlib.h>

#include "input/inflate.h"

int jp_inflate(const void *packed, size_t len, void *out, size_t size)
{
	uLongf unpacked = size;
	uLong used = len;
	int rc = uncompress2(out, &unpacked, packed, &used);
	if (rc == Z_MEM_ERROR)
		return -1;
	return rc == Z_OK && unpacked == size && used == len;
}
