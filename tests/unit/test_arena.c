#include "base/arena.h"
#include "harness.h"

TEST(test_pieces_are_zeroed_aligned_and_apart)
{
	static const size_t sizes[] = { 0, 1, 7, 16, 17, 1000, 65535, 65536, 65537, 3, 300000, 1 };
	struct jp_arena arena = { 0 };
	unsigned char *pieces[jp_count(sizes)];
	for (size_t i = 0; i < jp_count(sizes); i++) {
		pieces[i] = jp_arena_alloc(&arena, sizes[i]);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(uint64_t), 0);
		for (size_t b = 0; b < sizes[i]; b++)
			assert_int_equal(pieces[i][b], 0);
		memset(pieces[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < jp_count(sizes); i++)
		for (size_t b = 0; b < sizes[i]; b++)
			assert_int_equal(pieces[i][b], i + 1);
	jp_arena_release(&arena);
}

TEST(test_dup_copies_bytes_and_ends_them)
{
	struct jp_arena arena = { 0 };
	const char data[] = { 'a', '\0', 'b', 'x' };
	char *copy = jp_arena_dup(&arena, data, 3);
	assert_memory_equal(copy, "a\0b", 4);
	assert_ptr_not_equal(copy, data);
	assert_string_equal(jp_arena_dup(&arena, NULL, 0), "");
	jp_arena_release(&arena);
}

TEST(test_sizes_that_overflow_give_null)
{
	struct jp_arena arena = { 0 };
	assert_null(jp_arena_alloc(&arena, SIZE_MAX));
	assert_null(jp_arena_alloc(&arena, SIZE_MAX - 16));
	assert_null(jp_arena_dup(&arena, "", SIZE_MAX));
	assert_non_null(jp_arena_alloc(&arena, 8));
	jp_arena_release(&arena);
}

TEST(test_release_empties)
{
	struct jp_arena arena = { 0 };
	jp_arena_release(&arena);
	assert_non_null(jp_arena_alloc(&arena, 100));
	jp_arena_release(&arena);
	assert_null(arena.newest);
	assert_string_equal(jp_arena_dup(&arena, "again", 5), "again");
	jp_arena_release(&arena);
}

TEST(test_adopt)
{
	struct jp_arena to = { 0 }, from = { 0 }, none = { 0 };
	char *first = jp_arena_dup(&from, "first", 5), *large = jp_arena_alloc(&from, 100000);
	jp_arena_adopt(&to, &from); /* into an empty one */
	assert_null(from.newest);
	char *own = jp_arena_dup(&to, "own", 3), *second = jp_arena_dup(&from, "second", 6);
	assert_true(first && large && own && second);
	jp_arena_adopt(&to, &from);
	jp_arena_adopt(&to, &none);
	char *more = jp_arena_dup(&to, "more", 4);
	assert_non_null(more);
	assert_string_equal(first, "first");
	assert_string_equal(own, "own");
	assert_string_equal(second, "second");
	assert_string_equal(more, "more");
	jp_arena_release(&to); /* all of it, or the leak checker finds some */
	assert_null(from.newest);
}
