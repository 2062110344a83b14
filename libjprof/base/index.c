#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { least_slots = 64 };

uint64_t jp_hash(uint64_t seed, const void *data, size_t len)
{
	uint64_t h = seed ^ len, word;
	const char *from = data;
	for (; len >= sizeof word; len -= sizeof word) {
		memcpy(&word, from, sizeof word);
		h = jp_hash_mix(h, word);
		from += sizeof word;
	}
	word = 0;
	if (len)
		memcpy(&word, from, len);
	return len ? jp_hash_mix(h, word) : h;
}

static uint32_t first_slot(const struct jp_index *index, const struct jp_index_kind *kind, const void *item)
{
	uint64_t h = kind->hash(index->seed, item);
	return (uint32_t)(h ^ h >> 32) & (index->slot_count - 1);
}

static void fill_index(struct jp_index *index, const struct jp_index_kind *kind, const void *items)
{
	if (index->slot_count)
		memset(index->slots, 0xff, index->slot_count * sizeof *index->slots);
	for (uint32_t id = 0; id < index->count && index->slot_count; id++) {
		uint32_t i = first_slot(index, kind, (const char *)items + (size_t)id * kind->size);
		while (index->slots[i] != JP_NONE)
			i = (i + 1) & (index->slot_count - 1);
		index->slots[i] = id;
	}
}

uint64_t jp_index_seed(struct jp_index *index)
{
	if (!index->seed && getentropy(&index->seed, sizeof index->seed))
		index->seed = (uintptr_t)index;
	return index->seed;
}

void jp_index_rest(struct jp_index *index)
{
	free(index->slots);
	index->slots = NULL;
	index->slot_count = 0;
}

/* The old slots go first: they can be had again from the items, and both at once are never held. */
static int enlarge(struct jp_index *index, const struct jp_index_kind *kind, const void *items, size_t count)
{
	uint32_t wanted = index->slot_count ? index->slot_count : least_slots;
	jp_index_seed(index);
	while (wanted / 4 * 3 <= count) {
		if (wanted > UINT32_MAX / 4)
			return -1;
		wanted *= 2;
	}
	jp_index_rest(index);
	index->slots = malloc(wanted * sizeof *index->slots);
	if (!index->slots)
		return -1;
	index->slot_count = wanted;
	fill_index(index, kind, items);
	return 0;
}

uint32_t jp_index_id(struct jp_index *index, const struct jp_index_kind *kind, const void *items, const void *key,
                     bool *known)
{
	if (index->count >= index->slot_count / 4 * 3 && enlarge(index, kind, items, index->count))
		return JP_NONE;
	uint32_t i = first_slot(index, kind, key);
	for (; index->slots[i] != JP_NONE; i = (i + 1) & (index->slot_count - 1))
		if (kind->equal((const char *)items + (size_t)index->slots[i] * kind->size, key)) {
			*known = true;
			return index->slots[i];
		}
	*known = false;
	return index->slots[i] = index->count++;
}

/* ---- words -------------------------------------------------------------------------------------- */

static uint64_t hash_word(uint64_t seed, const void *item)
{
	uint64_t word;
	memcpy(&word, item, sizeof word);
	return jp_hash_mix(seed, word);
}

static bool same_word(const void *a, const void *b)
{
	return !memcmp(a, b, sizeof(uint64_t));
}

static const struct jp_index_kind word_kind = { sizeof(uint64_t), hash_word, same_word };

enum { batch = 32 };

/* Slots, then the words that they name, are on their way from memory while others are looked at. There is room. */
static void index_batch(struct jp_index *index, uint64_t *words, const uint64_t *asked, size_t count, uint32_t *ids)
{
	uint32_t slots[batch], mask = index->slot_count - 1;
	for (size_t k = 0; k < count; k++) {
		slots[k] = first_slot(index, &word_kind, &asked[k]);
		__builtin_prefetch(&index->slots[slots[k]]);
	}
	for (size_t k = 0; k < count; k++) {
		uint32_t id = index->slots[slots[k]];
		if (id != JP_NONE)
			__builtin_prefetch(&words[id]);
	}
	for (size_t k = 0; k < count; k++) {
		uint32_t i = slots[k];
		while (index->slots[i] != JP_NONE && words[index->slots[i]] != asked[k])
			i = (i + 1) & mask;
		if (index->slots[i] == JP_NONE) {
			words[index->count] = asked[k];
			index->slots[i] = index->count++;
		}
		ids[k] = index->slots[i];
	}
}

int jp_index_words(struct jp_index *index, uint64_t **words, size_t *cap, const uint64_t *asked, size_t count,
                   uint32_t *ids)
{
	if (jp_array_reserve(words, cap, index->count + count, sizeof **words))
		return -1;
	for (size_t done = 0, n; done < count; done += n) {
		n = count - done < batch ? count - done : batch;
		if (index->count + n >= index->slot_count / 4 * 3 &&
		    enlarge(index, &word_kind, *words, index->count + n))
			return -1;
		index_batch(index, *words, asked + done, n, ids + done);
	}
	return 0;
}

/* ---- pairs ---------------------------------------------------------------------------------------- */

/* Apart from the search, which is short, and what most calls are. Half of the slots stay empty. */
static __attribute__((noinline)) uint32_t add_pair(struct jp_pairs *pairs, uint64_t word)
{
	struct jp_index *index = &pairs->index;
	if ((index->count >= index->slot_count / 2 &&
	     enlarge(index, &word_kind, pairs->words, index->count + (size_t)index->count / 2)) ||
	    jp_array_push(pairs->words, index->count, pairs->cap))
		return JP_NONE;
	uint32_t i = first_slot(index, &word_kind, &word);
	while (index->slots[i] != JP_NONE)
		i = (i + 1) & (index->slot_count - 1);
	pairs->words[index->count] = word;
	return index->slots[i] = index->count++;
}

uint32_t jp_pair_id(struct jp_pairs *pairs, uint32_t first, uint32_t second)
{
	const uint64_t word = (uint64_t)first << 32 | second;
	const struct jp_index *index = &pairs->index;
	if (!index->slot_count)
		return add_pair(pairs, word);
	uint32_t i = first_slot(index, &word_kind, &word), mask = index->slot_count - 1;
	for (; index->slots[i] != JP_NONE; i = (i + 1) & mask)
		if (pairs->words[index->slots[i]] == word)
			return index->slots[i];
	return add_pair(pairs, word);
}

void jp_pairs_release(struct jp_pairs *pairs)
{
	jp_index_release(&pairs->index);
	free(pairs->words);
	*pairs = (struct jp_pairs){ 0 };
}

void jp_index_cut(struct jp_index *index, const struct jp_index_kind *kind, const void *items, uint32_t count)
{
	if (count >= index->count)
		return;
	index->count = count;
	fill_index(index, kind, items);
}

void jp_index_release(struct jp_index *index)
{
	free(index->slots);
	*index = (struct jp_index){ 0 };
}
