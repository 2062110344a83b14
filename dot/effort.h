/* What of a graph a picture shows, so that its layout ends within seconds. */
#ifndef DOT_EFFORT_H
#define DOT_EFFORT_H

#include "dot.h"

/* The work of a layout goes with the sum of the ranks that arrows span: Graphviz puts a node of its own into each
 * rank that an arrow passes, two where arrows have labels. */
struct dot_effort {
	bool *arrows;       /* by edge of the graph: it is drawn */
	size_t arrow_count; /* how many are */
	size_t left_out;    /* how many are not, because there is no placing them */
	size_t ranks;       /* that the arrows span, all together */
	bool values;        /* arrows have their values written on them */
	double nslimit;     /* Graphviz' attributes of these names */
	double mclimit;
};

/* Chooses for a graph. With `all` every arrow is drawn, with its value. 0, or -1 when memory is short; else for
 * dot_effort_release. */
int dot_effort_make(const struct jprof_graph *graph, bool all, struct dot_effort *effort);
void dot_effort_release(struct dot_effort *effort);

/* Whether the layout takes more than a moment. */
bool dot_effort_takes_long(const struct dot_effort *effort);

#endif
