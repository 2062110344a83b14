/* Draws with the code of the module jprof-dot.so, linked in. */
#include "report/picture.h"

int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err)
{
	return dot_draw(graph, opts, format, picture, err);
}
