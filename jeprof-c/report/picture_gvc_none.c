/* Built without libgvc. */
#include "cli/say.h"
#include "report/picture.h"

const struct dot_gvc *picture_gvc(struct jprof_error *err)
{
	fail_as(err, JPROF_E_UNSUPPORTED, "",
	        "this jprof was built without libgvc; --dot works, and Graphviz' own program draws what it writes: "
	        "dot -Tsvg");
	return NULL;
}
