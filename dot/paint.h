/* Colours: how much, and, in a difference, which way. Classes of the SVG have the same for dark screens. */
#pragma once

#include "jprof.h"

struct dot_paint {
	const char *class; /* "s0" to "s5", "g0" to "g5" (grew), "k0" to "k5" (shrank) */
	const char *fill;
	const char *line;
};

/* Whose code it is: of what is written of its owner, and the frame around it. Its class, and a word for it; NULL:
 * native. */
struct dot_origin {
	const char *class;
	const char *color;
	const char *word;
};
struct dot_origin dot_origin(enum jprof_origin origin);

/* Of a value, by its share of the graph's scale. */
struct dot_paint dot_paint(double value, const struct jprof_graph_info *info);
