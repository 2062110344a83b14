#include "base/array.h"
#include "harness.h"

TEST(test_push_keeps_what_is_there)
{
	uint64_t *items = NULL;
	size_t count = 0, cap = 0;
	for (; count < 1000; count++) {
		assert_int_equal(jp_array_push(items, count, cap), 0);
		assert_true(cap > count);
		items[count] = count * count;
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[i], i * i);
	free(items);
}

TEST(test_no_growth_where_there_is_room)
{
	int *items = NULL;
	size_t cap = 0;
	assert_int_equal(jp_array_reserve(&items, &cap, 0, sizeof *items), 0);
	assert_null(items);
	assert_int_equal(jp_array_reserve(&items, &cap, 5, sizeof *items), 0);
	assert_true(cap >= 5);
	size_t before = cap;
	int *same = items;
	assert_int_equal(jp_array_reserve(&items, &cap, before, sizeof *items), 0);
	assert_ptr_equal(items, same);
	assert_int_equal(cap, before);
	free(items);
}

TEST(test_overflow_changes_nothing)
{
	static const struct {
		size_t need, size;
	} cases[] = { { SIZE_MAX, 1 }, { SIZE_MAX / 2 + 2, 1 }, { SIZE_MAX / 8 + 1, 8 }, { 1 << 10, SIZE_MAX / 2 } };
	char *items = NULL;
	size_t cap = 0;
	assert_int_equal(jp_array_reserve(&items, &cap, 1, 1), 0);
	*items = 'x';
	for (size_t i = 0; i < jp_count(cases); i++) {
		char *items_before = items;
		size_t cap_before = cap;
		assert_int_equal(jp_array_reserve(&items, &cap, cases[i].need, cases[i].size), -1);
		assert_ptr_equal(items, items_before);
		assert_int_equal(cap, cap_before);
		assert_int_equal(*items, 'x');
	}
	free(items);
}
