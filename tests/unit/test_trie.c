/* Runs of ids as a tree, and stacks of rows as one of calls: beside a table of all prefixes, and recursion taken out of
 * each stack by itself. */
#include <string.h>

#include "base/trie.h"
#include "harness.h"
#include "render/calltree.h"

enum { most_long = 40, runs = 3000, few = 300 };

static uint64_t state_of_runs = 3;

static uint32_t below(uint32_t end)
{
	state_of_runs = state_of_runs * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state_of_runs >> 33) % end;
}

/* Of few ids, with parts that come several times in a row; outermost first. */
static size_t make_run(uint32_t *run)
{
	size_t len = below(most_long);
	for (size_t i = 0; i < len; i++)
		run[i] = below(3) || i < 2 ? below(4) : run[i - 1 - below(i < 20 ? (uint32_t)i : 20)];
	for (size_t period = 1 + below(18), from = below(20); below(2) && from + 2 * period <= len; from += period)
		memcpy(run + from + period, run + from, period * sizeof *run);
	return len;
}

static void turn(const uint32_t *run, size_t len, uint32_t *turned)
{
	for (size_t i = 0; i < len; i++)
		turned[len - 1 - i] = run[i];
}

TEST(test_runs)
{
	struct jp_trie trie = { 0 };
	uint32_t run[most_long], inner_first[most_long], known = 0;
	for (int n = 0; n < runs; n++) {
		size_t len = make_run(run);
		turn(run, len, inner_first);
		assert_int_equal(jp_trie_add(&trie, inner_first, len), 0);
		assert_int_equal(trie.depth, len);
		for (size_t i = 0; i < len; i++) {
			assert_int_equal(jp_trie_item(&trie, trie.path[i]), run[i]);
			assert_int_equal(jp_trie_parent(&trie, trie.path[i]), i ? trie.path[i - 1] : 0);
			assert_true(trie.path[i] <= known + 1);
			known += trie.path[i] > known;
		}
		assert_int_equal(jp_trie_end(&trie), len ? trie.path[len - 1] : 0);
	}
	assert_int_equal(jp_trie_count(&trie), known);
	for (uint32_t a = 1; a <= known && a < few; a++)
		for (uint32_t b = a + 1; b <= known; b++)
			assert_true(jp_trie_parent(&trie, a) != jp_trie_parent(&trie, b) ||
			            jp_trie_item(&trie, a) != jp_trie_item(&trie, b));
	jp_trie_release(&trie);
}

/* What repeats itself goes, the shortest first; loops[i]: something went that began at i. */
static size_t take_out_loops(uint32_t *rows, size_t count, bool *loops)
{
	size_t len = 0;
	for (size_t i = 0; i < count; i++) {
		rows[len] = rows[i];
		loops[len++] = false;
		for (size_t period = 1; period <= 16 && 2 * period <= len; period++)
			if (!memcmp(rows + len - period, rows + len - 2 * period, period * sizeof *rows)) {
				len -= period;
				loops[len - period] = true;
				break;
			}
	}
	return len;
}

TEST(test_calls)
{
	struct jp_calls calls = { 0 };
	uint32_t run[most_long], inner_first[most_long], known = 0;
	bool loops[most_long];
	size_t looped = 0;
	for (int n = 0; n < runs; n++) {
		size_t count = make_run(run), depth;
		turn(run, count, inner_first);
		assert_int_equal(jp_calls_add(&calls, inner_first, count, &depth), 0);
		size_t len = take_out_loops(run, count, loops);
		looped += len < count;
		assert_int_equal(depth, len);
		for (size_t i = 0; i < len; i++) {
			assert_int_equal(calls.nodes[calls.path[i]].row, run[i]);
			assert_int_equal(calls.nodes[calls.path[i]].parent, i ? calls.path[i - 1] : 0);
			assert_int_equal(calls.loops[i], loops[i]);
			/* None but what is left of a stack has a node. */
			assert_true(calls.path[i] <= known + 1);
			known += calls.path[i] > known;
		}
	}
	assert_int_equal(calls.count, known);
	assert_true(looped > runs / 4);
	jp_calls_release(&calls);
}
