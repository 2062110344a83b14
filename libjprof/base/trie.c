#include "base/trie.h"

#include <stdlib.h>

#include "base/array.h"

/* Runs that follow each other often begin alike. */
static size_t count_alike(const struct jp_trie *t, const uint32_t *inner_first, size_t count)
{
	size_t most = count < t->depth ? count : t->depth, alike = 0;
	while (alike < most && t->items[alike] == inner_first[count - 1 - alike])
		alike++;
	return alike;
}

uint32_t jp_trie_child(struct jp_trie *t, uint32_t parent, uint32_t item)
{
	uint32_t id = jp_pair_id(&t->keys, parent, item);
	return id == JP_NONE ? JP_NONE : id + 1;
}

int jp_trie_add(struct jp_trie *t, const uint32_t *inner_first, size_t count)
{
	if (jp_array_reserve(&t->items, &t->item_cap, count + 1, sizeof *t->items) ||
	    jp_array_reserve(&t->path, &t->path_cap, count + 1, sizeof *t->path))
		return -1;
	size_t i = count_alike(t, inner_first, count);
	for (t->depth = i; i < count; t->depth = ++i) {
		uint32_t item = inner_first[count - 1 - i], node = jp_trie_child(t, jp_trie_end(t), item);
		if (node == JP_NONE)
			return -1;
		t->items[i] = item;
		t->path[i] = node;
	}
	return 0;
}

void jp_trie_release(struct jp_trie *t)
{
	jp_pairs_release(&t->keys);
	free(t->items);
	free(t->path);
	*t = (struct jp_trie){ 0 };
}
