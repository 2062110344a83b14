/* What Graphviz draws as SVG becomes a page of its own: tooltips, light and dark, zoom and pan. */
#pragma once

#include "dotgraph.h"

/* Replaces *data, an SVG of libgvc's for this plan, of *len bytes. 0, or -1 when memory is short. */
int dot_dress_svg(const struct dot_plan *plan, char **data, size_t *len);
