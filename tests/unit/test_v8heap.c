/* V8's heaps read from outside: chunks as Node.js 20, 22 and 24 (V8 11.3, 12.4, 13.6) had them, word by word, and such
 * as only look alike. */
#include "harness.h"
#include "outside/v8heap.h"
#include "plantedheap.h"

enum { chunk = 256 << 10, record_words = 10, heap = 0x1b6d4bf0 };

#define MEMORY (PLANTED_HEAP + 0x40000ULL * 4)

typedef void (*put_chunk)(struct planted *p, uint64_t at, uint64_t size, uint64_t end);

static void put_words(struct planted *p, uint64_t at, const uint64_t words[record_words])
{
	planted_put(p, at, words, record_words * sizeof *words);
}

static void put_node20(struct planted *p, uint64_t at, uint64_t size, uint64_t end)
{
	put_words(p, at, (uint64_t[record_words]){ size, 0x4, heap, at + 0x1148, end, 0x3eeb0, 8, 0x3fff8 });
}

static void put_node22(struct planted *p, uint64_t at, uint64_t size, uint64_t end)
{
	put_words(p, at, (uint64_t[record_words]){ 0x8012, at, size, heap, at + 0x1140, end, 0x3eec0 });
}

static void put_node24(struct planted *p, uint64_t at, uint64_t size, uint64_t end)
{
	uint64_t record = PLANTED_TABLE + (at - MEMORY) / 64;
	put_words(p, at, (uint64_t[record_words]){ 0x12, record, 0x163b433810d1, 0x7ffe00000000 });
	put_words(p, record,
	          (uint64_t[record_words]){ 0x6b8ed90, at, size, 0x37e68, 0, 0x37e78, size, end, heap, at + 0x10 });
}

static const put_chunk layouts[] = { put_node20, put_node22, put_node24 };

static struct jp_v8heap found_in(struct planted *p)
{
	struct jp_v8heap found = jp_v8heap_find(&p->base);
	jp_memsource_close(&p->base);
	return found;
}

/* Nine chunks of one size, one of 618 KB for a large object; of each the pages with words are in memory. */
TEST(test_v8_layouts)
{
	const uint64_t large = 0x97000, whole = MEMORY + 10ULL * chunk;
	for (size_t i = 0; i < jp_count(layouts); i++) {
		struct planted *p = planted_new(&jp_jelayouts[0]);
		for (uint64_t k = 0; k < 9; k++)
			layouts[i](p, MEMORY + k * chunk, chunk, MEMORY + (k + 1) * chunk);
		layouts[i](p, whole, large, whole + large - 0x440);
		planted_word(p, MEMORY + 0x9000, 1);
		struct jp_v8heap found = found_in(p);
		assert_int_equal(found.chunks, 10);
		assert_int_equal(found.space, 9 * chunk + large);
		assert_int_equal(found.bytes, 11 * jp_memory_page);
	}
}

/* Three are none; nor are those of which a word is not what it must be: the end, the begin, the heap, the place. */
TEST(test_v8_alike)
{
	for (size_t i = 0; i < jp_count(layouts); i++)
		for (int wrong = 0; wrong < 4; wrong++) {
			struct planted *p = planted_new(&jp_jelayouts[0]);
			for (uint64_t k = 0; k < (wrong ? 9U : 3U); k++) {
				uint64_t at = MEMORY + k * chunk + (wrong == 1 ? 4096 : 0);
				uint64_t size = wrong == 2 ? 64ULL << 30 : chunk;
				layouts[i](p, at, size, at + (wrong == 3 ? size + 8 : size));
			}
			assert_int_equal(found_in(p).chunks, 0);
		}
}
