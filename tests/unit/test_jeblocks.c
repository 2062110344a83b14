/* Who points to a live block: planted slabs whose words point to each other. */
#include "harness.h"
#include "outside/jeblocks.h"
#include "plantedheap.h"

enum { class_48 = 3, in_slab = 256, slabs = 4 };

struct blocks_under_test {
	struct planted *memory;
	struct jp_jeextent items[slabs + 1];
	struct jp_jeextents extents;
	struct jp_jeblocks blocks;
};

static uint64_t at(unsigned block)
{
	return PLANTED_HEAP + block / in_slab * 0x4000 + block % in_slab * 48ULL;
}

/* Slabs of 256 objects of 48 bytes, and an object of 80 KB. */
static void make(struct blocks_under_test *t)
{
	*t = (struct blocks_under_test){ .memory = planted_new(&jp_jelayouts[0]) };
	for (unsigned i = 0; i < slabs; i++)
		t->items[i] = (struct jp_jeextent){ .base = at(i * in_slab),
			                            .first = at(i * in_slab),
			                            .size = 0x3000,
			                            .class = class_48,
			                            .slab = true,
			                            .places = in_slab };
	t->items[slabs] = (struct jp_jeextent){
		.base = PLANTED_HEAP + 0x100000, .first = PLANTED_HEAP + 0x100040, .size = 0x15000, .class = 45
	};
	t->extents = (struct jp_jeextents){ .items = t->items, .count = slabs + 1 };
}

static void points(struct blocks_under_test *t, unsigned from, uint64_t to)
{
	planted_word(t->memory, at(from) + 16, to);
}

static unsigned owner(const struct blocks_under_test *t, unsigned block)
{
	return jp_jeblocks_owner(&t->blocks, block / in_slab, block % in_slab);
}

static void give(struct blocks_under_test *t, uint64_t word, unsigned to)
{
	jp_jeblocks_give(&t->blocks, &word, 1, to);
}

static void end(struct blocks_under_test *t)
{
	jp_jeblocks_release(&t->blocks);
	jp_memsource_close(&t->memory->base);
}

/* The first has it; into the middle counts, a free place and a cached one do not; bits above the address are nothing.
 */
TEST(test_given)
{
	struct blocks_under_test t;
	make(&t);
	t.items[0].free[0] = 1 << 3;
	assert_int_equal(jp_jeblocks_open(&t.memory->base, &t.extents, &t.blocks), 0);
	assert_int_equal(t.blocks.count, slabs * in_slab + 1);
	give(&t, at(1) + 47, 1);
	give(&t, at(1), 2);
	give(&t, at(3), 1);
	give(&t, at(300) | 0xabcdULL << 48, 3);
	give(&t, PLANTED_HEAP + 0x100000 + 0x14fff, 4);
	give(&t, PLANTED_HEAP + 0x100000, 5); /* before the object */
	give(&t, PLANTED_HEAP + 0x3000, 5);   /* behind the last place */
	jp_jeblocks_claim(&t.blocks, at(7), 6);
	assert_int_equal(jp_jeblocks_follow(&t.blocks), 0);
	assert_int_equal(owner(&t, 1), 1);
	assert_int_equal(owner(&t, 3), 0);
	assert_int_equal(owner(&t, 300), 3);
	assert_int_equal(owner(&t, slabs * in_slab), 4);
	assert_int_equal(owner(&t, 7), 6);
	end(&t);
}

/* A list of all blocks, each behind the one that it points to; and what two own is of the nearer one. */
TEST(test_followed)
{
	struct blocks_under_test t;
	make(&t);
	for (unsigned i = slabs * in_slab - 1; i > 10; i--)
		points(&t, i, at(i - 1) + 8);
	points(&t, 0, at(1));
	points(&t, 1, at(5));
	points(&t, 2, at(5));
	planted_word(t.memory, PLANTED_HEAP + 0x100000 + 0x12340, at(6));
	assert_int_equal(jp_jeblocks_open(&t.memory->base, &t.extents, &t.blocks), 0);
	give(&t, at(slabs * in_slab - 1), 1);
	give(&t, at(0), 2);
	give(&t, at(2), 3);
	give(&t, PLANTED_HEAP + 0x100040, 4);
	assert_int_equal(jp_jeblocks_follow(&t.blocks), 0);
	for (unsigned i = 10; i < slabs * in_slab; i++)
		assert_int_equal(owner(&t, i), 1);
	assert_int_equal(owner(&t, 1), 2);
	assert_int_equal(owner(&t, 5), 3);
	assert_int_equal(owner(&t, 6), 4);
	assert_int_equal(owner(&t, 7), 0);
	end(&t);
}

/* Extents of sizes that nobody has, and none at all. */
TEST(test_bounded)
{
	struct blocks_under_test t;
	make(&t);
	t.items[slabs].size = 1ULL << 46;
	assert_int_equal(jp_jeblocks_open(&t.memory->base, &t.extents, &t.blocks), 0);
	assert_int_equal(t.blocks.count, 0);
	give(&t, at(1), 1);
	assert_int_equal(jp_jeblocks_follow(&t.blocks), 0);
	jp_jeblocks_release(&t.blocks);
	t.extents.count = 0;
	assert_int_equal(jp_jeblocks_open(&t.memory->base, &t.extents, &t.blocks), 0);
	give(&t, at(1), 1);
	assert_int_equal(jp_jeblocks_follow(&t.blocks), 0);
	end(&t);
}
