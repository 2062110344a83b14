/* The graph of Ruby's objects: docs/internals/graph.md has the format. Types, classes, sizes, what refers to what, and
 * names of classes; no contents. */
#pragma once

#include <stdbool.h>

/* Does this Ruby export what is needed? */
bool objectgraph_known(void);

/* In a job, on a Ruby thread; may raise. Notes the pages of Ruby's heap, and ends a collection that is under way: who
 * is forked at once after it never sweeps. False where there are several ractors, or no memory for the list. */
bool objectgraph_list(void);

/* Gives the list back. */
void objectgraph_forget(void);

/* In a forked child that has the list: writes the graph. Allocates nothing, runs no Ruby code. Where the descriptor
 * takes no more, the rest is missing. */
void objectgraph_write(int fd);
