#include "base/search.h"

#include <string.h>

static uint64_t element_key(const void *items, size_t size, size_t i)
{
	uint64_t key;
	memcpy(&key, (const char *)items + i * size, sizeof key);
	return key;
}

size_t jp_count_below(const void *items, size_t count, size_t size, uint64_t key)
{
	size_t lo = 0, hi = count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (element_key(items, size, mid) < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const void *jp_last_up_to(const void *items, size_t count, size_t size, uint64_t key)
{
	size_t n = key == UINT64_MAX ? count : jp_count_below(items, count, size, key + 1);
	return n ? (const char *)items + (n - 1) * size : NULL;
}

int jp_by_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return jp_order(*x, *y);
}

int jp_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return jp_order(*x, *y);
}
