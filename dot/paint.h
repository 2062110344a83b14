/* Colours: how much, and, in a difference, which way. Classes of the SVG have the same for dark screens. */
#ifndef DOT_PAINT_H
#define DOT_PAINT_H

#include "jprof.h"

struct dot_paint {
	const char *class; /* "s0" to "s5", "g0" to "g5" (grew), "k0" to "k5" (shrank) */
	const char *fill;
	const char *line;
};

/* Of a value, by its share of the graph's scale. */
struct dot_paint dot_paint(double value, const struct jprof_graph_info *info);

#endif
