/* Ids sorted where they lie: in order, whatever order they had, and in a number of steps that grows as a sort's should.
 */
#include "base/idsort.h"

#include "harness.h"

enum { longest = 20000 };

static size_t steps;

static int by_key(uint32_t a, uint32_t b, const void *keys)
{
	const uint32_t *key = keys;
	steps++;
	return key[a] != key[b] ? (key[a] > key[b]) - (key[a] < key[b]) : (a > b) - (a < b);
}

static uint32_t shape_random(size_t i, size_t count)
{
	(void)count;
	uint64_t x = (i + 1) * UINT64_C(6364136223846793005);
	return (uint32_t)(x >> 33);
}

static uint32_t shape_rising(size_t i, size_t count)
{
	(void)count;
	return (uint32_t)i;
}

static uint32_t shape_falling(size_t i, size_t count)
{
	return (uint32_t)(count - i);
}

static uint32_t shape_equal(size_t i, size_t count)
{
	(void)i;
	(void)count;
	return 7;
}

static uint32_t shape_pipes(size_t i, size_t count)
{
	return (uint32_t)(i < count / 2 ? i : count - i);
}

static uint32_t shape_few(size_t i, size_t count)
{
	(void)count;
	return (uint32_t)(i * 7919 % 3);
}

/* What makes the middle of three a bad one, each time. */
static uint32_t shape_killer(size_t i, size_t count)
{
	size_t half = count / 2;
	return (uint32_t)(i < half ? (i % 2 ? half + i : i + 1) : 2 * (i - half + 1));
}

TEST(test_orders)
{
	static uint32_t (*const shapes[])(size_t, size_t) = { shape_random, shape_rising, shape_falling, shape_equal,
		                                              shape_pipes,  shape_few,    shape_killer };
	static const size_t counts[] = { 0, 1, 2, 3, 12, 13, 14, 100, 1000, longest };
	static uint32_t ids[longest], keys[longest];
	for (size_t s = 0; s < jp_count(shapes); s++)
		for (size_t c = 0; c < jp_count(counts); c++) {
			size_t count = counts[c], levels = 1;
			for (size_t i = 0; i < count; i++) {
				ids[i] = (uint32_t)i;
				keys[i] = shapes[s](i, count);
			}
			steps = 0;
			jp_sort_ids(ids, count, by_key, keys);
			for (size_t i = 1; i < count; i++)
				assert_true(by_key(ids[i - 1], ids[i], keys) < 0);
			for (size_t n = count; n > 1; n /= 2)
				levels++;
			if (steps > 6 * (count + 1) * levels)
				fail_msg("shape %zu of %zu: %zu steps", s, count, steps);
		}
}
