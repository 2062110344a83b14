/* A library that allocates after everything else has ended: LATE=TIMESxBYTES in its destructor, each freed at once. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((destructor)) static void allocate_late(void)
{
	const char *text = getenv("LATE");
	unsigned times, bytes;
	if (!text || sscanf(text, "%ux%u", &times, &bytes) != 2)
		return;
	for (unsigned i = 0; i < times; i++) {
		char *volatile p = malloc(bytes);
		if (p)
			*p = 1;
		free(p);
	}
}
