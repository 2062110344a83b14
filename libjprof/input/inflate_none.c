#include <zlib.h>

#include "input/inflate.h"

int jp_inflate(const void *packed, size_t len, void *out, size_t size)
{
	uLongf unpacked = size;
	int rc = uncompress(out, &unpacked, packed, len);
	if (rc == Z_MEM_ERROR)
		return -1;
	return rc == Z_OK && unpacked == size;
}
