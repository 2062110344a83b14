/* The legend in the corner of a picture: an HTML-like label. */
#pragma once

#include "dot.h"
#include "dottext.h"

/* Total and title, the caller's facts, what was left out, and what colours and dashes mean. */
void dot_put_legend(FILE *out, const struct jprof_graph *graph, const struct dot_opts *opts);

/* "23.2 MB in use": one line that says what the picture is; plain text. */
void dot_put_headline(FILE *out, const struct jprof_graph *graph, const struct dot_opts *opts);

/* How much bigger than usual the type of the legend and of frames is. A picture is looked at whole first: the more
 * nodes, the smaller it is shown then. */
double dot_type_scale(const struct jprof_graph *graph);
