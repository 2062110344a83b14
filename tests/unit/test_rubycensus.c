/* A planted Ruby: pages of its GC heap, objects in them, classes with names and such that are none; and hostile pages.
 */
#include "harness.h"
#include "outside/referrers.h"
#include "plantedheap.h"

enum { slot = 40, page_slots = 408, class_16k = 36 };

/* A page of 16 KB with slots of 40 bytes, and its record. */
#define PAGE (PLANTED_HEAP + 0x200000)
#define RECORD (PLANTED_HEAP + 0x300100)

static uint64_t slot_at(unsigned i)
{
	return PAGE + slot + (uint64_t)i * slot;
}

static void put_object(struct planted *p, unsigned i, unsigned type, uint64_t class, uint64_t word)
{
	const uint64_t words[] = { type, class, word };
	planted_put(p, slot_at(i), words, sizeof words);
}

static void put_rubypage(struct planted *p, uint64_t record)
{
	const uint16_t sizes[] = { slot, page_slots, 0, 0 };
	static const unsigned char nothing[16384];
	planted_put(p, PAGE, nothing, sizeof nothing);
	planted_word(p, PAGE, record);
	planted_put(p, record, sizes, sizeof sizes);
	planted_word(p, record + 40, slot_at(0));
	planted_word(p, record + 200, 0);
}

/* Classes of the eight that are exported: 0 to 7, whose names are in 8 to 15; 16 to 20 are objects. */
static void put_classes(struct planted *p)
{
	for (unsigned i = 0; i < jp_ruby_known; i++) {
		put_object(p, i, jp_ruby_type_class, slot_at(5),
		           i == 5 ? slot_at(4) : slot_at(3)); /* Class is a Module */
		planted_word(p, slot_at(i) + 24, slot_at(8 + i));
		put_object(p, 8 + i, jp_ruby_type_string, slot_at(0), 0);
		planted_put(p, slot_at(8 + i) + 16, jp_ruby_symbols[i] + 4, strlen(jp_ruby_symbols[i] + 4) + 1);
		planted_word(p, PLANTED_DATA + 8ULL * i, slot_at(i));
	}
}

struct ruby_under_test {
	struct planted *memory;
	struct jp_jeextent item;
	struct jp_jeextents extents;
	struct jp_rubypages pages;
	struct jp_rubynames names;
	struct jp_rubycensus census;
};

/* The page in an extent of its own, as malloc gives one. */
static void read_ruby(struct ruby_under_test *t)
{
	uint64_t variables[jp_ruby_known];
	for (unsigned i = 0; i < jp_ruby_known; i++)
		variables[i] = PLANTED_DATA + 8ULL * i;
	t->item = (struct jp_jeextent){ .base = PAGE, .first = PAGE, .size = 0x5000, .class = class_16k };
	t->extents = (struct jp_jeextents){ .items = &t->item, .count = 1 };
	assert_int_equal(jp_rubypages_find(&t->memory->base, &t->pages), 0);
	t->names = jp_rubynames_learn(&t->memory->base, &t->pages, variables);
	const struct jp_othermalloc none = { 0 };
	assert_int_equal(jp_rubycensus_take(&t->memory->base, &t->pages, &t->names, &t->extents, &none, &t->census), 0);
}

static void end_ruby(struct ruby_under_test *t)
{
	jp_rubycensus_release(&t->census);
	jp_rubypages_release(&t->pages);
	jp_memsource_close(&t->memory->base);
	*t = (struct ruby_under_test){ 0 };
}

TEST(test_counted)
{
	enum { type_object = 1, type_array = 7 };
	struct ruby_under_test t = { .memory = planted_new(&jp_jelayouts[0]) };
	put_rubypage(t.memory, RECORD);
	put_classes(t.memory);
	put_object(t.memory, 16, type_object, slot_at(19), 0);
	put_object(t.memory, 17, type_object, slot_at(19), 0);
	put_object(t.memory, 18, type_array, slot_at(1), 0);
	put_object(t.memory, 19, jp_ruby_type_class, slot_at(5), slot_at(3)); /* Order, of Object */
	planted_word(t.memory, slot_at(19) + 24, slot_at(20));
	put_object(t.memory, 20, jp_ruby_type_string, slot_at(0), 0);
	planted_put(t.memory, slot_at(20) + 16, "Order", 6);
	read_ruby(&t);
	assert_int_equal(t.pages.count, 1);
	assert_true(t.names.known);
	assert_int_equal(t.census.types[type_object].count, 2);
	assert_int_equal(t.census.types[type_array].count, 1);
	assert_int_equal(t.census.types[jp_ruby_type_class].count, 9);
	assert_int_equal(t.census.free_slots, page_slots - 21);
	assert_int_equal(t.census.bytes, 16384);
	assert_int_equal(t.census.class_count, 1);
	assert_string_equal(t.census.classes[0].name, "Order");
	assert_int_equal(t.census.classes[0].count, 2);
	assert_int_equal(t.census.malloc_pages, 1);
	assert_int_equal(t.census.malloc_bytes, 16384);
	assert_int_equal(t.census.malloc_size, 16384);
	end_ruby(&t);
}

/* musl's malloc uses what files' data leave of their last pages, too: a record may lie there, but not outside all
 * memory. */
TEST(test_record_in_data_of_a_file)
{
	for (int in_file = 0; in_file < 2; in_file++) {
		struct ruby_under_test t = { .memory = planted_new(&jp_jelayouts[0]) };
		put_rubypage(t.memory, in_file ? PLANTED_DATA + 0x400 : PLANTED_DATA - 0x1000);
		put_classes(t.memory);
		read_ruby(&t);
		assert_int_equal(t.pages.count, in_file);
		assert_int_equal(t.names.known, in_file);
		end_ruby(&t);
	}
}

/* Words of the page and its record become others, by a fixed seed; nothing is read or written beyond its end. */
TEST(test_hostile_pages)
{
	uint64_t seed = 7;
	for (int round = 0; round < 60; round++) {
		static const uint64_t words[] = { 0, ~0ULL, 0x198002800280028, 1ULL << 47, 26, 12, 2, 5 };
		struct ruby_under_test t = { .memory = planted_new(&jp_jelayouts[0]) };
		struct jp_referrers found;
		struct jp_jeheap heap = { 0 };
		put_rubypage(t.memory, RECORD);
		put_classes(t.memory);
		for (int n = 0; n < 6; n++) {
			uint64_t draw = next_draw(&seed), word = words[draw % jp_count(words)];
			uint64_t place = draw / 8 % 3 ? slot_at(next_draw(&seed) % 21) + next_draw(&seed) % 5 * 8
			                              : RECORD + next_draw(&seed) % 24 * 8;
			planted_word(t.memory, place, draw / 64 % 2 ? word : slot_at(next_draw(&seed) % 500));
		}
		read_ruby(&t);
		assert_int_equal(
		    jp_referrers_find(&t.memory->base, &t.extents, &heap, &t.pages, &t.names, &t.census, NULL, &found),
		    0);
		jp_referrers_release(&found);
		end_ruby(&t);
	}
}
