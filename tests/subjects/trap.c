/* A library. Behind an exported function stand static ones: when the file is stripped the nearest
 * symbol below them is the exported one, which they are not. */
#include <stdlib.h>

#include "site.h"

NOINLINE void exported_first(void)
{
	HERE(exported_first, EXPORTED);
}

static NOINLINE void hidden_behind(void)
{
	HERE(hidden_behind, 0);
}

__attribute__((visibility("hidden"))) NOINLINE void hidden_by_visibility(void)
{
	HERE(hidden_by_visibility, 0);
}

NOINLINE void exported_last(void)
{
	HERE(exported_last, EXPORTED);
}

static NOINLINE void hidden_at_the_end(void)
{
	HERE(hidden_at_the_end, 0);
}

void subject_run(void)
{
	const char *first = (const char *)exported_first, *last = (const char *)exported_last;
	if ((const char *)hidden_behind < first || (const char *)hidden_by_visibility < first ||
	    (const char *)hidden_at_the_end < last)
		abort(); /* not the order that makes the trap */
	exported_first();
	hidden_behind();
	hidden_by_visibility();
	exported_last();
	hidden_at_the_end();
}
