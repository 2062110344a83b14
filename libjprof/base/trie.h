/* Runs of ids that begin alike as one tree: stacks, from the outermost frame on. */
#pragma once

#include "base/index.h"

/* Zero bytes are none, and ready for use. */
struct jp_trie {
	struct jp_pairs
	    keys; /* of node i + 1: its parent, 0 for none, and its item. Parents come before their children */
	/* Of the run that was added last, outermost first: its items, and their nodes. */
	uint32_t *items, *path;
	size_t depth, item_cap, path_cap;
};

/* Adds a run, given with its innermost item first. 0, or -1 when memory is short. */
int jp_trie_add(struct jp_trie *trie, const uint32_t *inner_first, size_t count) jp_must_check;
void jp_trie_release(struct jp_trie *trie);

/* The node of an item below another, or below none, 0; JP_NONE when memory is short. */
uint32_t jp_trie_child(struct jp_trie *trie, uint32_t parent, uint32_t item);

static inline uint32_t jp_trie_count(const struct jp_trie *trie)
{
	return trie->keys.index.count;
}

static inline uint32_t jp_trie_parent(const struct jp_trie *trie, uint32_t node)
{
	return jp_pair_first(&trie->keys, node - 1);
}

static inline uint32_t jp_trie_item(const struct jp_trie *trie, uint32_t node)
{
	return jp_pair_second(&trie->keys, node - 1);
}

/* The innermost node of the run that was added last; 0: it was empty. */
static inline uint32_t jp_trie_end(const struct jp_trie *trie)
{
	return trie->depth ? trie->path[trie->depth - 1] : 0;
}
