/* What a heap that was read is asked: its dominators, what each object keeps, and the way to it. */
#pragma once

#include "rubyheap/heapdump.h"

/* Arrays have an element for each node of the graph. */
struct jprof_rubyheap {
	struct jp_heap heap;
	struct jp_dominators dominators;
	uint64_t *keeps; /* bytes that would be freed with this one: its own, and those of all that it dominates */
	uint32_t *way;   /* the node before it on a short way from a root; JP_NONE: there is none */
	uint32_t
	    *children; /* those whose immediate dominator a node is: children[first_child[i]] up to, but without, */
	uint32_t *first_child; /* ... children[first_child[i + 1]] */
	bool *born;            /* of each object: jprof_born_new counted it; NULL: it was not asked for */
	struct jprof_rubyheap_info info;
};

/* A word, "" for JP_NONE. */
const char *jp_heap_word(const struct jp_heap *heap, uint32_t word);

/* Such a word, "FILE:LINE", as it is shown: below the directory in which the process ran. */
const char *jp_heap_site(const struct jp_heap *heap, uint32_t site);

/* The samples of a node: from *first up to, but without, *end. */
void jp_heap_samples(const struct jp_heap *heap, uint32_t node, const struct jp_heap_sample **first,
                     const struct jp_heap_sample **end);

/* The name of a node's class, "" where it has none. */
const char *jp_heap_class(const struct jp_heap *heap, uint32_t node);

/* A thread or fiber: what its stack refers to is at work, and not kept by it for long. */
bool jp_heap_is_thread(const struct jp_heap *heap, uint32_t node);

/* What has threads: the main one has all of a program that makes no others. */
bool jp_heap_is_ractor(const struct jp_heap *heap, uint32_t node);

/* A root of this kind. */
bool jp_heap_is_root(const struct jp_heap *heap, uint32_t node, const char *kind);
