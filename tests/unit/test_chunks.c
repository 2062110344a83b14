/* Chunks of glibc's malloc that a test wrote, as struct malloc_chunk of malloc.c has them. */
#include "harness.h"
#include "outside/chunks.h"
#include "plantedheap.h"

enum { prev_inuse = 1, is_mmapped = 2 };

#define FIRST PLANTED_HEAP
#define MAPPED (PLANTED_HEAP + 0x100000)

struct chunks_under_test {
	struct planted *memory;
	struct jp_memwindow window;
	struct jp_chunks chunks;
};

/* 32 in use, 48 in use, 64 free, 4,096 in use, and the top of 512. */
static uint64_t put_chunks(struct planted *p)
{
	static const struct {
		uint64_t size, before;
	} chunks[] = { { 32, prev_inuse }, { 48, prev_inuse }, { 64, prev_inuse }, { 4096, 0 }, { 512, prev_inuse } };
	uint64_t at = FIRST;
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
		planted_word(p, at + 8, chunks[i].size | chunks[i].before);
		at += chunks[i].size;
	}
	return at;
}

static void begin_chunks(struct chunks_under_test *t)
{
	t->memory = planted_new(&jp_jelayouts[0]);
	jp_memwindow_open(&t->window, &t->memory->base);
	assert_int_equal(jp_chunks_open(&t->chunks), 0);
}

static void end_chunks(struct chunks_under_test *t)
{
	jp_chunks_release(&t->chunks);
	jp_memsource_close(&t->memory->base);
}

TEST(test_walked_and_taken)
{
	static struct chunks_under_test t;
	uint64_t unused, size = 0;
	begin_chunks(&t);
	uint64_t end = put_chunks(t.memory);
	assert_int_equal(jp_chunks_walk(&t.chunks, &t.window, FIRST, end, &unused), 1);
	assert_int_equal(unused, 64 + 512);
	/* What can be used of a chunk ends with the first word of the next. */
	assert_true(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 16, &size));
	assert_int_equal(size, 24);
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 16, &size)); /* once */
	assert_true(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 32 + 48 + 64 + 16, &size));
	assert_int_equal(size, 4088);
	/* Free ones, the top, and what lies inside. */
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 32 + 48 + 16, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, end - 512 + 16, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 32 + 48 + 64 + 32, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, FIRST + 32 + 24, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, 0, &size));
	end_chunks(&t);
}

TEST(test_next)
{
	static struct chunks_under_test t;
	uint64_t unused, place = 0;
	size_t span = 0;
	begin_chunks(&t);
	uint64_t end = put_chunks(t.memory);
	assert_int_equal(jp_chunks_walk(&t.chunks, &t.window, FIRST, end, &unused), 1);
	assert_int_equal(jp_chunks_next(&t.chunks, 48, &span, &place), FIRST + 16);
	assert_int_equal(jp_chunks_next(&t.chunks, 48, &span, &place), FIRST + 32 + 16);
	assert_int_equal(jp_chunks_next(&t.chunks, 48, &span, &place), 0);
	end_chunks(&t);
}

/* One of 128 KiB with pages of its own: it begins on a page, and says so. */
TEST(test_mapped)
{
	static struct chunks_under_test t;
	uint64_t size;
	begin_chunks(&t);
	planted_word(t.memory, MAPPED + 8, 0x21000 | is_mmapped);
	planted_word(t.memory, MAPPED + 0x30000 + 8, 0x21000 | prev_inuse);
	planted_word(t.memory, MAPPED + 0x60000 + 8, 0x7fffffff000 | is_mmapped);
	assert_true(jp_chunks_take(&t.chunks, &t.memory->base, MAPPED + 16, &size));
	assert_int_equal(size, 0x21000 - 16);
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, MAPPED + 16, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, MAPPED + 0x30000 + 16, &size));
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, MAPPED + 0x60000 + 16, &size)); /* beyond the mapping */
	assert_false(jp_chunks_take(&t.chunks, &t.memory->base, PLANTED_DATA + 0x100000010, &size));
	end_chunks(&t);
}

/* What is no row of chunks: sizes that are too small, odd, or reach beyond the end. */
TEST(test_no_chunks)
{
	static const uint64_t sizes[] = { 0, 16, 40, 1 << 20, UINT64_MAX };
	static struct chunks_under_test t;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t unused;
		begin_chunks(&t);
		uint64_t end = put_chunks(t.memory);
		planted_word(t.memory, FIRST + 32 + 8, sizes[i]);
		assert_int_equal(jp_chunks_walk(&t.chunks, &t.window, FIRST, end, &unused), 0);
		assert_int_equal(t.chunks.count, 0);
		end_chunks(&t);
	}
}
