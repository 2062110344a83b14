/* Chains of boxes: a path of functions that each have one arrow in and one out, that allocate nothing themselves and
 * belong to one owner, or to several that allocate nothing. A picture draws it as one box. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "jprof.h"

/* By node of a graph. Outside a chain a node is its own first and last, and the next of a chain's last is itself. */
struct dot_chains {
	size_t *first, *last, *next;
};

/* Finds the chains of three nodes and more; none if `each`. False when memory is short; else for dot_chains_release. */
bool dot_chains_find(struct dot_chains *chains, const struct jprof_graph *graph, bool each);

void dot_chains_release(struct dot_chains *chains);

/* What an owner's nodes allocated themselves. */
double dot_owner_sum(const struct jprof_graph *graph, const char *owner);

/* How many nodes there are from this one to the end of its chain. */
size_t dot_chain_length(const struct dot_chains *chains, size_t node);
