/* One static file: what writes DOT is in it. */
#include "report/picture.h"

#include <string.h>

int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err)
{
	struct dot_opts all = *opts;
	if (strcmp(format, "dot") && !(all.gvc = picture_gvc(err)))
		return err->code;
	return dot_draw(graph, &all, format, picture, err);
}
