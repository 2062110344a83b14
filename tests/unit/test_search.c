/* Sorted arrays: the element at, before and after every key, against a walk from the front. */
#include "base/search.h"
#include "harness.h"

struct item {
	uint64_t key;
	char more[3];
};

static const struct item items[] = { { 0, "" }, { 5, "" }, { 5, "" }, { 9, "" }, { UINT64_MAX, "" } };

TEST(test_every_key)
{
	static const uint64_t keys[] = { 0, 1, 4, 5, 6, 8, 9, 10, UINT64_MAX - 1, UINT64_MAX };
	for (size_t count = 0; count <= jp_count(items); count++)
		for (size_t k = 0; k < jp_count(keys); k++) {
			size_t below = 0;
			const struct item *last = NULL;
			for (size_t i = 0; i < count; i++) {
				below += items[i].key < keys[k];
				last = items[i].key <= keys[k] ? &items[i] : last;
			}
			assert_int_equal(jp_count_below(items, count, sizeof *items, keys[k]), below);
			assert_ptr_equal(jp_last_up_to(items, count, sizeof *items, keys[k]), last);
		}
}
