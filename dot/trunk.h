/* The callers of a graph up to its first fork: all passes through them, so they tell nothing. */
#ifndef DOT_TRUNK_H
#define DOT_TRUNK_H

#include "effort.h"

struct dot_trunk {
	bool *hidden;  /* by node */
	size_t *nodes; /* those, outermost first */
	size_t count;
	size_t chains;
};

/* From each node without a caller on: those that allocate nothing themselves and call one function alone, of the arrows
 * that are drawn. A chain that ends without a fork or a meeting with another one stays. Without `wanted` there are
 * none. 0, or -1 when memory is short; else for dot_trunk_release. */
int dot_trunk_find(const struct jprof_graph *graph, const struct dot_effort *effort, bool wanted,
                   struct dot_trunk *trunk);
void dot_trunk_release(struct dot_trunk *trunk);

#endif
