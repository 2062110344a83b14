/* Ids of words: those that an array searched from its front has, whatever runs they are asked for in. */
#include "base/index.h"
#include "harness.h"

enum { most_words = 3000 };

static uint64_t state_of_draw = 1;

static uint32_t draw_below(uint32_t end)
{
	state_of_draw = state_of_draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state_of_draw >> 33) % end;
}

static uint32_t place_in(uint64_t *words, uint32_t *count, uint64_t word)
{
	uint32_t i = 0;
	while (i < *count && words[i] != word)
		i++;
	words[i] = word;
	*count += i == *count;
	return i;
}

/* Runs of 0 to 200 words, many of them known; among them 0 and all bits. */
TEST(test_words)
{
	struct jp_index index = { 0 };
	uint64_t *words = NULL, expected[most_words] = { 0 }, run[200];
	uint32_t ids[200], count = 0;
	size_t cap = 0, wrong = 0;
	while (count < most_words - 200) {
		size_t n = draw_below(201);
		for (size_t i = 0; i < n; i++)
			run[i] = draw_below(20) ? draw_below(4 * most_words) * UINT64_C(0x100000001)
			                        : 0 - (uint64_t)draw_below(2);
		assert_int_equal(jp_index_words(&index, &words, &cap, run, n, ids), 0);
		for (size_t i = 0; i < n; i++)
			wrong += ids[i] != place_in(expected, &count, run[i]);
		assert_int_equal(index.count, count);
		if (!draw_below(30))
			jp_index_rest(&index); /* made anew of the words */
	}
	assert_int_equal(wrong, 0);
	assert_memory_equal(words, expected, count * sizeof *words);
	assert_true(cap >= count);
	jp_index_release(&index);
	free(words);
}

/* Pairs of ids, of which many come again, and those that differ in one half only. */
TEST(test_pairs)
{
	struct jp_pairs pairs = { 0 };
	uint64_t expected[most_words] = { 0 };
	uint32_t count = 0;
	size_t wrong = 0;
	while (count < most_words) {
		uint32_t first = draw_below(200), second = draw_below(20) ? draw_below(200) : JP_NONE;
		uint32_t id = place_in(expected, &count, (uint64_t)first << 32 | second);
		wrong += jp_pair_id(&pairs, first, second) != id;
		wrong += jp_pair_first(&pairs, id) != first || jp_pair_second(&pairs, id) != second;
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(pairs.index.count, count);
	jp_pairs_release(&pairs);
}
