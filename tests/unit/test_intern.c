#include "base/intern.h"
#include "harness.h"

TEST(test_ids_count_up_and_equal_means_same)
{
	struct jp_intern table = { 0 };
	assert_int_equal(jp_intern_str(&table, "b"), 0);
	assert_int_equal(jp_intern_str(&table, ""), 1);
	assert_int_equal(jp_intern_str(&table, "a"), 2);
	assert_int_equal(jp_intern_str(&table, "b"), 0);
	assert_int_equal(jp_intern(&table, "", 0), 1);
	assert_int_equal(jp_intern(&table, "bc", 1), 0);
	assert_int_equal(jp_intern(&table, "b", 2), 3); /* with its NUL it is another */
	assert_int_equal(table.count, 4);
	assert_string_equal(jp_intern_get(&table, 2), "a");
	assert_int_equal(jp_intern_len(&table, 3), 2);
	jp_intern_release(&table);
}

/* Lengths around the eight bytes that are hashed at a time, differing in the last byte only. */
TEST(test_the_last_byte_counts)
{
	struct jp_intern table = { 0 };
	char text[40] = { 0 };
	for (size_t len = 1; len <= sizeof text; len++) {
		uint32_t a = jp_intern(&table, text, len);
		text[len - 1] = 1;
		uint32_t b = jp_intern(&table, text, len);
		text[len - 1] = 0;
		assert_int_equal(b, a + 1);
		assert_int_equal(jp_intern(&table, text, len), a);
	}
	jp_intern_release(&table);
}

TEST(test_many)
{
	enum { many = 20000 };
	struct jp_intern table = { 0 };
	char text[32];
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < many; i++) {
			snprintf(text, sizeof text, "name %u", i);
			assert_int_equal(jp_intern_str(&table, text), i);
		}
	assert_int_equal(table.count, many);
	for (uint32_t i = 0; i < many; i++) {
		snprintf(text, sizeof text, "name %u", i);
		assert_string_equal(jp_intern_get(&table, i), text);
		assert_int_equal((uintptr_t)jp_intern_get(&table, i) % _Alignof(uint64_t), 0);
	}
	jp_intern_release(&table);
	assert_int_equal(table.count, 0);
	assert_int_equal(jp_intern_str(&table, "anew"), 0);
	jp_intern_release(&table);
}

TEST(test_strings_stay_where_they_are)
{
	struct jp_intern table = { 0 };
	const char *first = jp_intern_get(&table, jp_intern_str(&table, "first"));
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(jp_intern(&table, &i, sizeof i), i + 1);
	assert_ptr_equal(jp_intern_get(&table, 0), first);
	assert_string_equal(first, "first");
	jp_intern_release(&table);
}
