/* Groups of musl's malloc that a test wrote, as src/malloc/mallocng/meta.h has them; and damaged ones. */
#include "harness.h"
#include "outside/slotgroups.h"
#include "plantedheap.h"

#define DATA (PLANTED_DATA + 0x1000) /* where a libc has its .bss */
#define CONTEXT (DATA + 0x340)
#define FIRST_AREA PLANTED_TABLE
#define LAST_AREA (PLANTED_TABLE + 0x5000)
#define SECRET 0x123456789abcdef0ULL

/* Of 64 bytes 31 slots, of which 0 to 2 are in use; in slot 2 of 496 bytes are 15 of 32 bytes, of which 14 is; one with
 * pages of its own. */
#define GROUP (PLANTED_HEAP + 0x1000)
#define OUTER (PLANTED_HEAP + 0x4000)
#define INNER (OUTER + 16 + 2 * 496)
#define LARGE (PLANTED_HEAP + 0x100000)

enum { unit = 16, class_32 = 1, class_64 = 3, class_496 = 15, class_large = 63, nested = 6, further = 7, is_far = 5 };

struct groups_under_test {
	struct planted *memory;
	struct jp_memwindow window;
	struct jp_slotgroups groups;
};

static void put_area(struct planted *p, uint64_t at, uint64_t next)
{
	const uint64_t head[] = { SECRET, next, 101 };
	static const unsigned char nothing[jp_memory_page];
	planted_put(p, at, nothing, sizeof nothing);
	planted_put(p, at, head, sizeof head);
}

/* Record `i` of an area, and the group's head. */
static void put_group(struct planted *p, uint64_t area, unsigned i, uint64_t group, uint64_t bits, uint64_t idle)
{
	uint64_t at = area + 24 + 40ULL * i;
	const uint64_t record[] = { at, at, group, idle, 1 << 5 | bits };
	planted_put(p, at, record, sizeof record);
	planted_word(p, group, at);
	planted_word(p, group + 8,
	             bits & 31 ? (bits & 31) - 1 : 0); /* the last slot was never in use, if it has more than one */
}

static uint64_t group_bits(unsigned class, unsigned slots, uint64_t pages)
{
	return pages << 12 | class << 6 | (slots - 1);
}

/* What is before a block, or before a slot whose block begins further in. */
static void put_head(struct planted *p, uint64_t at, unsigned slot, unsigned left, unsigned units)
{
	const unsigned char head[] = { 0, (unsigned char)(left << 5 | slot), (unsigned char)units,
		                       (unsigned char)(units >> 8) };
	planted_put(p, at - 4, head, sizeof head);
}

static void put_groups(struct planted *p)
{
	const uint32_t far = 29;
	planted_word(p, CONTEXT, SECRET);
	planted_word(p, CONTEXT + 56, FIRST_AREA);
	planted_word(p, CONTEXT + 64, LAST_AREA);
	put_area(p, FIRST_AREA, LAST_AREA);
	put_area(p, LAST_AREA, 0);
	/* Freed ones, and available ones. */
	put_group(p, FIRST_AREA, 0, GROUP, group_bits(class_64, 31, 0), 0x4ffffff0ULL << 32 | 0x30000008);
	put_head(p, GROUP + 16, 0, 3, 0);                     /* 57 of 60 bytes */
	put_head(p, GROUP + 16 + 64, 1, further, 2);          /* one that begins 32 bytes further in: */
	put_head(p, GROUP + 16 + 96, 1, 0, (64 + 32) / unit); /* all 28 bytes */
	put_head(p, GROUP + 16 + 128, 2, is_far, 128 / unit);
	planted_put(p, GROUP + 16 + 192 - 8, &far, sizeof far); /* 31 of 60 bytes */
	put_group(p, FIRST_AREA, 1, OUTER, group_bits(class_496, 3, 0), 3);
	put_head(p, INNER, 2, nested, 2 * 496 / unit);
	put_group(p, LAST_AREA, 0, INNER, group_bits(class_32, 15, 0), 0x3fff);
	put_head(p, INNER + 16 + 14 * 32, 14, 4, 14 * 32 / unit); /* 24 of 28 bytes */
	put_group(p, LAST_AREA, 1, LARGE, group_bits(class_large, 1, 50), 0);
	put_head(p, LARGE + 16, 0, 1, 0); /* but for one byte */
}

static void find_groups(struct groups_under_test *t)
{
	jp_memwindow_open(&t->window, &t->memory->base);
	assert_int_equal(jp_slotgroups_find(&t->window, DATA, DATA + 0x2000, &t->groups), 0);
}

static void begin_groups(struct groups_under_test *t)
{
	t->memory = planted_new(&jp_jelayouts[0]);
	put_groups(t->memory);
	find_groups(t);
}

static void end_groups(struct groups_under_test *t)
{
	jp_slotgroups_release(&t->groups);
	jp_memsource_close(&t->memory->base);
}

/* The bytes that it was asked for, or -1. */
static int64_t take(struct groups_under_test *t, uint64_t pointer)
{
	uint64_t size;
	return jp_slotgroups_take(&t->groups, &t->memory->base, pointer, &size) ? (int64_t)size : -1;
}

static const struct {
	uint64_t at;
	int64_t size;
} blocks[] = {
	{ GROUP + 16, 57 },
	{ GROUP + 16 + 96, 28 },
	{ GROUP + 16 + 128, 31 },
	{ INNER + 16 + 14 * 32, 24 },
	{ LARGE + 16, 50 * 4096 - 16 - 4 - 1 },
};

TEST(test_taken)
{
	static struct groups_under_test t;
	begin_groups(&t);
	assert_int_equal(t.groups.count, 4);
	assert_int_equal(t.groups.unused, 27 * 64 + 2 * 496 + 14 * 32);
	for (size_t i = 0; i < jp_count(blocks); i++) {
		assert_int_equal(take(&t, blocks[i].at), blocks[i].size);
		assert_int_equal(take(&t, blocks[i].at), -1); /* once */
	}
	end_groups(&t);
}

/* Free slots, what has a group in it, places inside of blocks, before and behind all groups. */
TEST(test_no_blocks)
{
	static const uint64_t none[] = {
		GROUP,      GROUP + 16 + 64, GROUP + 16 + 192, GROUP + 32, GROUP + 17,        OUTER + 16, INNER,
		INNER + 16, LARGE + 32,      PLANTED_HEAP,     LARGE << 1, LARGE + 50 * 4096, 0,          8,
		16,         UINT64_MAX,      UINT64_MAX - 15
	};
	static struct groups_under_test t;
	begin_groups(&t);
	put_head(t.memory, GROUP + 16 + 192, 3, 0, 192 / unit); /* freed, but looks as if not */
	put_head(t.memory, GROUP + 16 + 32, 0, 0, 32 / unit);   /* inside a block, whose slot does not say so */
	for (size_t i = 0; i < jp_count(none); i++)
		assert_int_equal(take(&t, none[i]), -1);
	assert_int_equal(take(&t, GROUP + 16 + 32), -1);
	planted_word(t.memory, PLANTED_HEAP + 0x200000 - 8, 0);
	jp_memsource_forget(&t.memory->base);
	size_t reads = t.memory->reads;
	assert_int_equal(take(&t, PLANTED_HEAP + 0x1ffff0), -1);
	assert_int_equal(t.memory->reads, reads); /* nothing is read where no group is */
	end_groups(&t);
}

/* Heads that do not fit the block: its slot, where it begins, what is left of the slot. */
TEST(test_damaged_heads)
{
	static const struct {
		uint64_t at;
		unsigned char bytes[4];
		uint64_t block;
	} cases[] = {
		{ GROUP + 12, { 1, 3 << 5, 0, 0 }, GROUP + 16 },
		{ GROUP + 12, { 0, 6 << 5, 0, 0 }, GROUP + 16 },
		{ GROUP + 12, { 0, 7 << 5, 0, 0 }, GROUP + 16 },
		{ GROUP + 12, { 0, 3 << 5 | 1, 0, 0 }, GROUP + 16 },
		{ GROUP + 12, { 0, 3 << 5, 1, 0 }, GROUP + 16 },
		{ GROUP + 12, { 0, 3 << 5, 0, 0x80 }, GROUP + 16 },
		{ GROUP + 76, { 0, further << 5, 1, 0 }, GROUP + 16 + 96 },
		{ GROUP + 76, { 1, further << 5, 2, 0 }, GROUP + 16 + 96 },
		{ GROUP + 108, { 0, 2, 6, 0 }, GROUP + 16 + 96 },
		{ GROUP + 140, { 0, 0, 8, 0 }, GROUP + 16 + 128 },
		{ GROUP + 200, { 4, 0, 0, 0 }, GROUP + 16 + 128 }, /* less than would stand in the head */
		{ GROUP + 200, { 61, 0, 0, 0 }, GROUP + 16 + 128 },
		{ GROUP + 200, { 61, 0, 0, 0x80 }, GROUP + 16 + 128 },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		static struct groups_under_test t;
		begin_groups(&t);
		planted_put(t.memory, cases[i].at, cases[i].bytes, sizeof cases[i].bytes);
		if (take(&t, cases[i].block) != -1)
			fail_msg("case %zu was taken", i);
		end_groups(&t);
	}
}

/* A slot whose block would begin in the next one. */
TEST(test_slot_of_another)
{
	static struct groups_under_test t;
	begin_groups(&t);
	put_head(t.memory, GROUP + 16 + 64, 1, further, 4);
	put_head(t.memory, GROUP + 16 + 128, 1, 0, 8);
	assert_int_equal(take(&t, GROUP + 16 + 128), -1);
	end_groups(&t);
}

/* A page between the others, with a group, that does not have the secret. */
TEST(test_other_secret)
{
	static const uint64_t other = PLANTED_TABLE + 0x9000;
	for (uint64_t wrong = 0; wrong < 2; wrong++) {
		static struct groups_under_test t;
		t.memory = planted_new(&jp_jelayouts[0]);
		put_groups(t.memory);
		put_area(t.memory, other, LAST_AREA);
		planted_word(t.memory, FIRST_AREA + 8, other);
		planted_word(t.memory, other, SECRET + wrong);
		put_group(t.memory, other, 0, PLANTED_HEAP + 0x8000, group_bits(class_64, 31, 0), 0);
		find_groups(&t);
		assert_int_equal(t.groups.count, wrong ? 2 : 5);
		end_groups(&t);
	}
}

/* In the last KB of the mapping is no room for 31 slots of 64 bytes. */
TEST(test_beyond_the_mapping)
{
	static struct groups_under_test t;
	t.memory = planted_new(&jp_jelayouts[0]);
	put_groups(t.memory);
	put_group(t.memory, LAST_AREA, 2, PLANTED_HEAP + 0x4000000 - 0x400, group_bits(class_64, 31, 0), 0);
	find_groups(&t);
	assert_int_equal(t.groups.count, 4);
	end_groups(&t);
}

TEST(test_next)
{
	static struct groups_under_test t;
	size_t group = 0;
	uint64_t place = 0;
	begin_groups(&t);
	assert_int_equal(jp_slotgroups_next(&t.groups, 64, &group, &place), GROUP + 16);
	assert_int_equal(jp_slotgroups_next(&t.groups, 64, &group, &place), GROUP + 16 + 64);
	assert_int_equal(jp_slotgroups_next(&t.groups, 64, &group, &place), GROUP + 16 + 128);
	assert_int_equal(jp_slotgroups_next(&t.groups, 64, &group, &place), 0);
	end_groups(&t);
}

/* What does not prove itself: the word that is changed, and how many groups are left. */
TEST(test_damaged)
{
	static const struct {
		uint64_t at, word;
		size_t left;
	} cases[] = {
		{ CONTEXT, SECRET + 1, 0 },
		{ CONTEXT, 0, 0 },
		{ CONTEXT + 56, FIRST_AREA + 8, 0 },
		{ CONTEXT + 56, UINT64_MAX, 0 },
		{ CONTEXT + 64, 0, 0 },
		{ CONTEXT + 64, PLANTED_HEAP + 0x1000, 0 },
		{ FIRST_AREA + 8, 0, 2 },
		{ FIRST_AREA + 8, LAST_AREA + 16, 2 },
		{ FIRST_AREA + 8, PLANTED_DATA, 2 },
		{ FIRST_AREA + 8, FIRST_AREA, 0 }, /* rings */
		{ LAST_AREA + 8, FIRST_AREA, 0 },
		{ LAST_AREA + 8, LAST_AREA, 0 },
		{ LAST_AREA + 16, 100, 2 },
		{ FIRST_AREA + 24 + 16, GROUP + 8, 3 },
		{ FIRST_AREA + 24 + 16, GROUP + 16, 3 },
		{ FIRST_AREA + 24 + 16, PLANTED_STACK + 0x100000, 3 },
		{ FIRST_AREA + 24 + 24, 0x70000018ULL << 32 | 0x10, 3 },  /* both available and freed */
		{ FIRST_AREA + 24 + 24, 0x80000000, 3 },                  /* a slot that it does not have */
		{ FIRST_AREA + 24 + 32, 48 << 6 | 30, 3 },                /* a class that there is not */
		{ LAST_AREA + 64 + 32, 63 << 6, 3 },                      /* no pages of its own */
		{ LAST_AREA + 64 + 32, 50 << 12 | 63 << 6 | 1, 3 },       /* two slots of pages */
		{ LAST_AREA + 64 + 32, 0xfffffffffffff000 | 63 << 6, 3 }, /* beyond the mapping */
		{ GROUP, FIRST_AREA + 64, 3 },
		{ LARGE, 0, 3 },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		static struct groups_under_test t;
		t.memory = planted_new(&jp_jelayouts[0]);
		put_groups(t.memory);
		planted_word(t.memory, cases[i].at, cases[i].word);
		find_groups(&t);
		if (t.groups.count != cases[i].left)
			fail_msg("case %zu: %zu groups are left", i, t.groups.count);
		end_groups(&t);
	}
}

static bool lies_in_group(const struct groups_under_test *t, uint64_t at, uint64_t size)
{
	for (size_t i = 0; i < t->groups.count; i++)
		if (t->groups.items[i].start <= at && at + size < t->groups.items[i].reach)
			return true;
	return false;
}

/* Each byte of records and heads, and of what leads to them, in turn: what is still taken lies in a group. */
TEST(test_each_byte_damaged)
{
	static const struct {
		uint64_t from, to;
	} ranges[] = { { CONTEXT, CONTEXT + 72 },      { FIRST_AREA, FIRST_AREA + 112 },
		       { LAST_AREA, LAST_AREA + 112 }, { GROUP, GROUP + 256 },
		       { OUTER, OUTER + 16 },          { INNER - 8, INNER + 16 },
		       { LARGE, LARGE + 16 },          { INNER + 14 * 32, INNER + 16 + 15 * 32 } };
	static const unsigned char flips[] = { 1, 0x10, 0x80, 0xff };
	static struct groups_under_test t;
	size_t taken = 0, tries = 0;
	t.memory = planted_new(&jp_jelayouts[0]);
	put_groups(t.memory);
	for (size_t k = 0; k < jp_count(ranges) * jp_count(flips); k++)
		for (uint64_t at = ranges[k / jp_count(flips)].from; at < ranges[k / jp_count(flips)].to; at++) {
			unsigned char sound = 0, byte;
			assert_true(jp_memsource_read(&t.memory->base, at, &sound, 1));
			byte = sound ^ flips[k % jp_count(flips)];
			planted_put(t.memory, at, &byte, 1);
			find_groups(&t);
			for (size_t i = 0; i < jp_count(blocks); i++, tries++) {
				int64_t size = take(&t, blocks[i].at);
				assert_true(size < 0 || lies_in_group(&t, blocks[i].at, (uint64_t)size));
				taken += size >= 0;
			}
			for (uint64_t p = GROUP; p < GROUP + 256; p += unit)
				(void)take(&t, p);
			jp_slotgroups_release(&t.groups);
			planted_put(t.memory, at, &sound, 1);
			t.memory->base.left = 1 << 30;
		}
	end_groups(&t);
	assert_true(taken > tries / 2 && taken < tries);
}
