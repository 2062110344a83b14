#include <libdeflate.h>

#include "input/inflate.h"

int jp_inflate(const void *packed, size_t len, void *out, size_t size)
{
	struct libdeflate_decompressor *unpacker = libdeflate_alloc_decompressor();
	if (!unpacker)
		return -1;
	size_t used = 0;
	enum libdeflate_result result = libdeflate_zlib_decompress_ex(unpacker, packed, len, out, size, &used, NULL);
	libdeflate_free_decompressor(unpacker);
	return result == LIBDEFLATE_SUCCESS && used == len;
}
