/* What counts of a heap when its keepers are looked for: all objects, or a choice of them. */
#pragma once

#include "rubyheap/rubyheap.h"

/* Over all nodes, from Ruby down: who dominates whom, or the way to each. */
struct jp_tree {
	const uint32_t *above;                  /* each node's parent */
	const uint32_t *order;                  /* a parent is before its children; `reached` nodes */
	const uint32_t *first_child, *children; /* as in struct jprof_rubyheap */
	uint32_t reached;
};

/* What find_keepers looks at: all, or a choice of objects with what they keep. */
struct jp_weights {
	const struct jprof_rubyheap *h;
	struct jp_tree tree;
	uint64_t *bytes;   /* of each node and what it dominates */
	uint64_t *objects; /* likewise */
	bool *chosen;      /* those of the choice; NULL: all are */
	bool sampled;      /* the choice is by lines, which samples alone have */
	bool *picked;      /* of each sample; NULL: blocks have none, and an object's sample stands for all of it */
	enum jp_heap_part silent; /* the samples of this part say nothing of the number of objects */
	bool alone;               /* each of the choice counts alone, and may keep others of it */
	uint64_t least;           /* bytes of a row */
	uint64_t least_lone;      /* likewise, of a single object */
};

/* Fills `chosen` and `picked`, by lines, classes and births; all stays where there is no choice. The arrays are the
 * caller's to free. JPROF_E_ARGUMENT: a pattern is none. */
int jp_choose_objects(struct jp_weights *w, const struct jprof_keepers_opts *opts, struct jprof_error *err);

/* What an object counts in a choice. Of one that is kept by another such the bytes are in that one's; of sampled ones
 * nobody knows that, so that each has its own bytes, for all that it stands for. `below`: it is kept by another. */
uint64_t jp_chosen_bytes(const struct jp_weights *w, uint32_t node, bool below);

/* Of a choice; for how many it stands. */
uint64_t jp_chosen_objects(const struct jp_weights *w, uint32_t node);
