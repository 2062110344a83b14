/* Which Ruby object has a block that jemalloc sampled: planted slots, and blocks of which the records are known. */
#include "harness.h"
#include "outside/rubybuffers.h"
#include "plantedheap.h"

enum { slot = 40, page_slots = 20, of_8k = 32, blocks = 8, lg_rate = 19 };
enum { type_array = 7, type_hash = 8, type_float = 4, has_table = 1 << 15 };

#define PAGE (PLANTED_HEAP + 0x200000)
#define BLOCK(i) (PLANTED_HEAP + 0x400040 + (i)*0x3000ULL)
#define TABLE (PLANTED_HEAP + 0x300000)
#define IDS 0x6f0000000000ULL
#define CODE 0x550000001234ULL

static uint64_t slot_at(unsigned i)
{
	return PAGE + slot + (uint64_t)i * slot;
}

static void put_slot(struct planted *p, unsigned i, uint64_t flags, uint64_t third, uint64_t fourth, uint64_t fifth)
{
	const uint64_t words[] = { flags, slot_at(0), third, fourth, fifth };
	planted_put(p, slot_at(i), words, sizeof words);
}

static struct planted *planted_objects(void)
{
	static const char maps[] = "6f0000000000-6f0000480800 ---s 00000000 00:01 7   /memfd:jprof-ids:1 (deleted)\n"
				   "7e0040000000-7e0044000000 rw-p 00000000 00:00 0 \n";
	static const unsigned char nothing[16384];
	struct planted *p = planted_new(&jp_jelayouts[0]);
	jprof_maps_free(p->base.maps);
	assert_int_equal(jprof_maps_parse(maps, sizeof maps - 1, "maps", &p->base.maps, NULL), 0);
	planted_put(p, PAGE, nothing, sizeof nothing);
	return p;
}

/* Sampled are all blocks, each in a context of its own; the last one's context is gone. */
static char *buffers_of(struct planted *p)
{
	static const uint64_t stack[] = { CODE, IDS + 5, IDS + 0x80803 };
	struct jp_jesample samples[blocks];
	struct jp_jecontext contexts[blocks];
	for (unsigned i = 0; i < blocks; i++) {
		samples[i] = (struct jp_jesample){ .context = 100 + i, .address = BLOCK(i), .class = of_8k };
		contexts[blocks - 1 - i] =
		    (struct jp_jecontext){ .address = 100 + i, .stack = stack, .depth = i == 1 ? 1 : 3 };
	}
	contexts[0].address = 99;
	const struct jp_jeprofile profile = {
		.lg_rate = lg_rate, .samples = samples, .sample_count = blocks, .contexts = contexts, .count = blocks
	};
	struct jp_rubypage page = { PAGE, slot_at(0), slot, page_slots, 16384 };
	const struct jp_rubypages pages = { .items = &page, .count = 1 };
	struct jp_strbuf text = { 0 };
	assert_int_equal(jp_rubybuffers_write(&p->base, &profile, &pages, &text), 0);
	jp_memsource_close(&p->base);
	return text.text;
}

static void assert_buffers(struct planted *p, const char *lines, unsigned count)
{
	char wanted[1024];
	char *text = buffers_of(p);
	snprintf(wanted, sizeof wanted, "jprof-buffers 1\nrate 524288\n%send %u\n", lines, count);
	assert_string_equal(text, wanted);
	free(text);
}

static const char *line_of(unsigned object, unsigned type, bool with_numbers)
{
	static char line[128];
	snprintf(line, sizeof line, "b %llx %u 40 %llu%s\n", (unsigned long long)slot_at(object), type,
	         (unsigned long long)jp_jeclass_size(of_8k), with_numbers ? " 6f0000000005 6f0000080803" : "");
	return line;
}

TEST(test_direct)
{
	struct planted *p = planted_objects();
	put_slot(p, 3, jp_ruby_type_string | 1 << 13, 9000, BLOCK(0), 9001);
	assert_buffers(p, line_of(3, jp_ruby_type_string, true), 1);
	p = planted_objects();
	put_slot(p, 4, jp_ruby_type_data, 0, 1, BLOCK(1));
	assert_buffers(p, line_of(4, jp_ruby_type_data, false), 1); /* a stack without a number of the agent's */
}

/* A pointer into it is none to it; what is free, or of a type without a block, has none; nor is there a context for the
 * last one. */
TEST(test_none)
{
	struct planted *p = planted_objects();
	put_slot(p, 1, jp_ruby_type_string, 9000, BLOCK(0) + 8, BLOCK(0) - 8);
	put_slot(p, 2, 0, BLOCK(1), BLOCK(1), BLOCK(1));
	put_slot(p, 3, type_float, BLOCK(2), BLOCK(2), BLOCK(2));
	put_slot(p, 4, jp_ruby_type_string, 9000, BLOCK(7), 0);
	planted_word(p, slot_at(5), jp_ruby_type_string);
	planted_word(p, slot_at(5) + 8, BLOCK(3)); /* its class */
	assert_buffers(p, "", 0);
}

/* A String and its copy point to the text, and to the one that has it; wherever that lies. */
TEST(test_shared)
{
	static const unsigned orders[][3] = { { 1, 2, 3 }, { 2, 1, 3 }, { 3, 1, 2 } };
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		struct planted *p = planted_objects();
		const unsigned owner = orders[i][0];
		put_slot(p, owner, jp_ruby_type_string, 9000, BLOCK(0), 9001);
		put_slot(p, orders[i][1], jp_ruby_type_string, 9000, BLOCK(0), slot_at(owner));
		put_slot(p, orders[i][2], jp_ruby_type_string, 8000, BLOCK(0), slot_at(owner));
		assert_buffers(p, line_of(owner, jp_ruby_type_string, true), 1);
	}
}

/* A Hash of Ruby to 3.2 has its table in a block, which points to its entries. */
TEST(test_table)
{
	for (int known = 0; known < 2; known++) {
		struct planted *p = planted_objects();
		put_slot(p, 6, type_hash | (known ? has_table : 0), TABLE, 8, 0);
		planted_word(p, TABLE + 48, BLOCK(2));
		planted_word(p, TABLE + 56, BLOCK(3)); /* behind it */
		assert_buffers(p, known ? line_of(6, type_hash, true) : "", known ? 1 : 0);
	}
	/* one that points nowhere, and to the end of memory */
	struct planted *p = planted_objects();
	put_slot(p, 6, type_hash | has_table, 0x123456789ab8, 8, 0);
	put_slot(p, 7, type_hash | has_table, PLANTED_HEAP + 0x4000000 - 8, 8, 0);
	put_slot(p, 8, type_hash | has_table, TABLE + 3, 8, 0);
	assert_buffers(p, "", 0);
}

TEST(test_without)
{
	struct planted *p = planted_objects();
	struct jp_strbuf text = { 0 };
	const struct jp_jeprofile none = { .lg_rate = lg_rate };
	const struct jp_rubypages pages = { .count = 0 };
	assert_int_equal(jp_rubybuffers_write(&p->base, &none, &pages, &text), 0);
	assert_null(text.text);
	jp_memsource_close(&p->base);
}
