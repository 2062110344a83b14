/* Pictures, drawn in a child. */
#pragma once

#include "dot.h"

/* picture_draw() in a process of its own, for Graphviz does not look at what malloc gave it: where it crashes, that
 * costs the picture and nothing else, which is JPROF_E_UNSUPPORTED. The child may take what memory the program
 * may. */
int picture_draw_apart(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                       struct dot_picture *picture, struct jprof_error *err);
