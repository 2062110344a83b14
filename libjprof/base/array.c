#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { large = 1 << 20 }; /* bytes from which on half of it is enough to grow by */

int jp_array_reserve(void *items, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return 0;
	size_t wanted = *cap ? *cap : 16;
	while (wanted < need) {
		if (wanted > SIZE_MAX / 2)
			return -1;
		wanted += wanted < large / size ? wanted : wanted / 2;
	}
	if (wanted > PTRDIFF_MAX / size)
		return -1;
	void *old;
	memcpy(&old, items, sizeof old);
	void *grown = realloc(old, wanted * size);
	if (!grown)
		return -1;
	memcpy(items, &grown, sizeof grown);
	*cap = wanted;
	return 0;
}
