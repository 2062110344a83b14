/* Which id an item has: a hash table over an array whose places are the ids. Nothing of the items is copied. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define JP_NONE UINT32_MAX

/* What items of one type have in common. Only what `equal` compares may go into `hash`. */
struct jp_index_kind {
	size_t size; /* of an item */
	uint64_t (*hash)(uint64_t seed, const void *item);
	bool (*equal)(const void *a, const void *b);
};

/* An index of zero bytes is empty and ready for use. */
struct jp_index {
	uint32_t *slots;
	uint32_t slot_count; /* a power of two, or 0 */
	uint32_t count;      /* of items; ids run from 0 to this less one */
	uint64_t seed;       /* drawn per table, so that no input can aim at collisions */
};

/* The id of the item in `items` that is equal to `key`; if there is none, it becomes that of the next one, which the
 * caller then puts at items[id] (*known is false): there must be room for it. JP_NONE when memory is short. */
uint32_t jp_index_id(struct jp_index *index, const struct jp_index_kind *kind, const void *items, const void *key,
                     bool *known);

/* The same for a run of words, in an array of words that grows as new ones come to it (*cap): ids[i] is that of
 * asked[i]. -1 when memory is short: then some of them may have been added. */
int jp_index_words(struct jp_index *index, uint64_t **words, size_t *cap, const uint64_t *asked, size_t count,
                   uint32_t *ids) jp_must_check;

/* Pairs of ids, which have ids themselves. Zero bytes are none, and ready for use. */
struct jp_pairs {
	struct jp_index index;
	uint64_t *words; /* by id: the first in the upper half, the second in the lower */
	size_t cap;
};

/* The id of a pair; ids count up from 0 in the order of first sight. JP_NONE when memory is short. */
uint32_t jp_pair_id(struct jp_pairs *pairs, uint32_t first, uint32_t second);
void jp_pairs_release(struct jp_pairs *pairs);

static inline uint32_t jp_pair_first(const struct jp_pairs *pairs, uint32_t id)
{
	return (uint32_t)(pairs->words[id] >> 32);
}

static inline uint32_t jp_pair_second(const struct jp_pairs *pairs, uint32_t id)
{
	return (uint32_t)pairs->words[id];
}

/* What hashes of the items' own making begin with: drawn at the first call. */
uint64_t jp_index_seed(struct jp_index *index);

/* Gives back the memory of the slots, until an id is asked for again: then they are made anew. */
void jp_index_rest(struct jp_index *index);

/* Forgets all items from `count` on. */
void jp_index_cut(struct jp_index *index, const struct jp_index_kind *kind, const void *items, uint32_t count);

void jp_index_release(struct jp_index *index);

/* A hash of any bytes, and how two of them are mixed. */
uint64_t jp_hash(uint64_t seed, const void *data, size_t len);
static inline uint64_t jp_hash_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}
