/* Draws with the code of the module jprof-dot.so, linked in. */
#include "report/picture.h"

int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err)
{
	return dot_draw(graph, opts, format, picture, err);
}

int __wrap_picture_draw_apart(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                              struct dot_picture *picture, struct jprof_error *err);

/* In this process, whose allocations are counted. */
int __wrap_picture_draw_apart(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                              struct dot_picture *picture, struct jprof_error *err)
{
	return dot_draw(graph, opts, format, picture, err);
}
