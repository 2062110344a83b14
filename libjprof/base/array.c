#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Elements at first, and bytes from which on half of it is enough to grow by. */
enum { least = 16, large = 1 << 20 };

int jp_array_reserve(void *items, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return 0;
	size_t wanted = *cap < large / size ? 2 * *cap : *cap + *cap / 2;
	wanted = wanted < least ? least : wanted;
	wanted = wanted < need ? need : wanted;
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

void jp_array_trim(void *items, size_t *cap, size_t count, size_t size)
{
	void *old;
	memcpy(&old, items, sizeof old);
	void *shrunk = count && count < *cap ? realloc(old, count * size) : NULL;
	if (!shrunk)
		return;
	memcpy(items, &shrunk, sizeof shrunk);
	*cap = count;
}
