/* The objects of a Ruby and what refers to what, out of the graph that the agent's child wrote:
 * docs/internals/graph.md. */
#pragma once

#include <stddef.h>

#include "rubyheap/heapbuild.h"

/* Reads it out of memory, which may go afterwards; one that does not end with its end is refused. `name` is for
 * messages. Release the heap in any case. */
int jp_heap_read_graph(struct jp_heap *heap, const void *data, size_t len, const char *name, struct jprof_error *err);
