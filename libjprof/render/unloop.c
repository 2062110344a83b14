#include "render/unloop.h"

#include <string.h>

enum { longest_loop = 16 };

/* Whether the last `period` of `len` names are those before them. */
static bool is_loop(const uint32_t *names, size_t len, size_t period)
{
	return len >= 2 * period && names[len - 1] == names[len - 1 - period] &&
	       !memcmp(names + len - period, names + len - 2 * period, period * sizeof *names);
}

/* It reads ahead of what it writes. */
size_t jp_unloop(uint32_t *names, size_t depth, bool *loops)
{
	size_t len = 0;
	for (size_t i = 0; i < depth; i++) {
		names[len] = names[i];
		loops[len++] = false;
		for (size_t period = 1; period <= longest_loop; period++)
			if (is_loop(names, len, period)) {
				len -= period;
				loops[len - period] = true;
				break;
			}
	}
	return len;
}
