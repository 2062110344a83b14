/* Numbers for the names of a graph, counted up from its first. libcgraph's own are addresses, by which it puts
 * subgraphs in order: pictures would differ from run to run. */
#pragma once

#include <cgraph.h>

/* To be given to agopen. */
extern Agdisc_t dot_ids;
