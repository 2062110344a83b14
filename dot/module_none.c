/* Built without libgvc. */
#include <stdio.h>

#include "module.h"

const struct dot_module *dot_module(struct jprof_error *err)
{
	*err = (struct jprof_error){ .code = JPROF_E_UNSUPPORTED };
	snprintf(err->text, sizeof err->text,
	         "this jprof was built without libgvc; --dot works, and Graphviz' own program draws what it writes: "
	         "dot -Tsvg");
	return NULL;
}
