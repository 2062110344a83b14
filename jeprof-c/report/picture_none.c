/* Built without libcgraph. */
#include "cli/say.h"
#include "report/picture.h"

int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err)
{
	(void)graph, (void)opts, (void)format, (void)picture;
	return fail_as(
	    err, JPROF_E_UNSUPPORTED, "",
	    "this jprof was built without libcgraph; with libgraphviz-dev (Debian) or graphviz-dev (Alpine): "
	    "meson setup -Dcgraph=enabled");
}
