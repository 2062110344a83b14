/* Ruby stacks in a profile: dumps and tables are written here by docs/internals/ruby-table.md. Addresses of the dump
 * are return addresses, one behind the call, so a number N is START + 2N + 1. */
#include <math.h>

#include "base/checksum.h"
#include "harness.h"

#define NODE(n) 0x7f0000000000 + 2 * (n) + 1
#define EPOCH(n) NODE(0x40400 + (n))

static const char maps[] = "MAPPED_LIBRARIES:\n"
			   "00400000-00500000 r-xp 00000000 08:01 7 /bin/subject\n"
			   "7f0000000000-7f0000480800 ---s 00000000 00:01 2050 /memfd:jprof-ids:1 (deleted)\n";

static const char frames[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\ns 4 String\ns 5 +\ns 6 <main>\n"
			     "n 1 0 1 3 0 - 6\nn 2 1 1 12 2 . 3\nn 3 2 0 0 4 # 5\nm 4 0 after-gc 0\nm 5 1 cut 9\n"
			     "n 6 5 1 12 2 . 3\nend 6\n";

/* A dump of these stacks, each with its address lines and bytes. */
static char *dump_text(const char *stacks, size_t *len)
{
	char *text;
	int n = asprintf(&text, "heap_v2/1\n  t*: 1: 1 [0: 0]\n%s\n%s", stacks, maps);
	assert_true(n > 0);
	*len = (size_t)n;
	return text;
}

static char *table_text(const char *dump, size_t len, const char *body, size_t *table_len)
{
	struct jp_checksum sum = jp_checksum_none();
	char *text = NULL;
	jp_checksum_add(&sum, dump, len);
	FILE *out = open_memstream(&text, table_len);
	fprintf(out,
	        "jprof-table 1\nprocess 1 2 -\ndump %zu %llx\nids 7f0000000000 0 40000 40400 240400\nruby 3.1.2 on\n"
	        "interpreter 1 2 libruby.so\ntime 1.000\n%s",
	        len, (unsigned long long)sum.fnv, body);
	fclose(out);
	return text;
}

static char *stack(char *to, size_t size, int bytes, const uint64_t *addresses, size_t count)
{
	size_t at = (size_t)snprintf(to, size, "@");
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(to + at, size - at, " 0x%llx", (unsigned long long)addresses[i]);
	at += (size_t)snprintf(to + at, size - at, "\n  t*: 1: %d [0: 0]\n", bytes);
	return to + at;
}

static struct jprof_profile *profile_with(const char *text, size_t len, const char *table, size_t table_len)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .table = table, .table_len = table_len };
	struct jprof_profile *p = NULL;
	struct jprof_error err = { 0 };
	if (jprof_profile_parse(text, len, "test.heap", &opts, &p, &err))
		fail_msg("%s", err.text);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, &err), 0);
	return p;
}

/* "value: innermost < ... < outermost" of each stack, a line each. */
static char *stacks_of(const struct jprof_profile *p)
{
	char *text = NULL;
	size_t len;
	struct jprof_frame frame[300];
	FILE *out = open_memstream(&text, &len);
	for (size_t i = 0; i < jprof_profile_stacks(p); i++) {
		size_t count = jprof_profile_frames(p, i, frame, jp_count(frame));
		fprintf(out, "%.0f:", jprof_profile_value(p, i, JPROF_INUSE_SPACE));
		for (size_t f = 0; f < count; f++) {
			fprintf(out, "%s%s", f ? " < " : " ", frame[f].function);
			if (frame[f].file)
				fprintf(out, " %s:%u", frame[f].file, frame[f].line);
		}
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

static void check_stacks(const char *stacks, const char *body, const char *should, const char *note)
{
	size_t len, table_len = 0;
	char *text = dump_text(stacks, &len), *table = body ? table_text(text, len, body, &table_len) : NULL;
	struct jprof_profile *p = profile_with(text, len, table, table_len);
	char *is = stacks_of(p);
	assert_string_equal(is, should);
	assert_int_equal(jprof_profile_notes(p), note != NULL);
	if (note)
		assert_contains(jprof_profile_note(p, 0), note);
	free(is);
	jprof_profile_free(p);
	free(table);
	free(text);
}

/* The native part inside, the Ruby stack outside of it; epochs of one stack are added up. */
TEST(test_expanded)
{
	char stacks[1024], *end = stacks + sizeof stacks, *at = stacks;
	at = stack(at, (size_t)(end - at), 100, (const uint64_t[]){ 0x401000, 0x401101, NODE(3), EPOCH(1) }, 4);
	at = stack(at, (size_t)(end - at), 20, (const uint64_t[]){ 0x401000, 0x401101, NODE(3), EPOCH(2) }, 4);
	at = stack(at, (size_t)(end - at), 7, (const uint64_t[]){ 0x401000, 0x401201, EPOCH(2) }, 3);
	at = stack(at, (size_t)(end - at), 5, (const uint64_t[]){ 0x401000, NODE(4), EPOCH(2) }, 3);
	stack(at, (size_t)(end - at), 3, (const uint64_t[]){ 0x401000, NODE(6) }, 2);
	check_stacks(stacks, frames,
	             "120: subject+0x1000 < subject+0x1100 < String#+ < Shop.find app/a.rb:12 < <main> app/a.rb:3\n"
	             "7: subject+0x1000 < subject+0x1200\n"
	             "5: subject+0x1000 < after a GC: creator not known\n"
	             "3: subject+0x1000 < Shop.find app/a.rb:12 < 9 frames left out < <main> app/a.rb:3\n",
	             NULL);
}

static const uint64_t two[] = { 0x401000, 0x401101, NODE(3), EPOCH(1) };

TEST(test_without_table)
{
	char stacks[512];
	stack(stacks, sizeof stacks, 100, two, 4);
	check_stacks(stacks, NULL, "100: subject+0x1000 < subject+0x1100\n", "test.heap: the Ruby stacks of 1 stacks");
}

/* A node that the table does not have is taken off, and counted. */
TEST(test_unknown_node)
{
	char stacks[512];
	stack(stacks, sizeof stacks, 100, (const uint64_t[]){ 0x401000, NODE(77), EPOCH(1) }, 3);
	check_stacks(stacks, frames, "100: subject+0x1000\n", "does not have the Ruby stacks of 1");
}

/* One byte of the dump is another: the table is none of it, and names nothing. */
TEST(test_table_of_another_dump)
{
	char stacks[512];
	size_t len, table_len;
	stack(stacks, sizeof stacks, 100, two, 4);
	char *text = dump_text(stacks, &len), *table = table_text(text, len, frames, &table_len);
	free(text);
	stack(stacks, sizeof stacks, 200, two, 4);
	text = dump_text(stacks, &len);
	struct jprof_profile *p = profile_with(text, len, table, table_len);
	char *is = stacks_of(p);
	assert_null(strstr(is, "Shop"));
	assert_int_equal(jprof_profile_notes(p), 1);
	assert_contains(jprof_profile_note(p, 0), "is the table of another dump");
	free(is);
	jprof_profile_free(p);
	free(table);
	free(text);
}

/* Numbers of two processes mean different things; their content meets. */
TEST(test_merged_by_content)
{
	static const char other[] = "s 9 app/a.rb\ns 8 Shop\ns 7 find\ns 6 String\ns 5 +\ns 4 <main>\n"
				    "n 3 0 9 3 0 - 4\nn 7 3 9 12 8 . 7\nn 8 7 0 0 6 # 5\nend 3\n";
	char stacks[512], others[512];
	size_t len[2], table_len[2];
	stack(stacks, sizeof stacks, 100, two, 4);
	stack(others, sizeof others, 30, (const uint64_t[]){ 0x401000, 0x401101, NODE(8), EPOCH(1) }, 4);
	char *text[2] = { dump_text(stacks, &len[0]), dump_text(others, &len[1]) };
	char *table[2] = { table_text(text[0], len[0], frames, &table_len[0]),
		           table_text(text[1], len[1], other, &table_len[1]) };
	struct jprof_profile *p[2];
	for (int i = 0; i < 2; i++) {
		struct jprof_profile_opts opts = { .size = sizeof opts, .table = table[i], .table_len = table_len[i] };
		assert_int_equal(jprof_profile_parse(text[i], len[i], "x", &opts, &p[i], NULL), 0);
	}
	assert_int_equal(jprof_profile_add(p[0], p[1], NULL), 0);
	assert_int_equal(jprof_profile_stacks(p[0]), 1);
	assert_near(jprof_profile_value(p[0], 0, JPROF_INUSE_SPACE), 130);
	assert_int_equal(jprof_profile_difference(p[0], p[1], NULL), 0);
	assert_near(jprof_profile_value(p[0], 0, JPROF_INUSE_SPACE), 100);
	for (int i = 0; i < 2; i++) {
		jprof_profile_free(p[i]);
		free(text[i]);
		free(table[i]);
	}
}

/* ---- objects in slots ------------------------------------------------------------------------------------- */

/* R = 64 bytes. Two Strings and an object without a class of one line, one of no line, and one that is always sampled.
 */
static const char slots[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\ns 4 String\nn 2 0 1 12 2 . 3\nslots 64\n"
			    "o 1000 2 0 1 5 4 40 40\no 1028 2 0 1 5 4 40 40\no 1050 2 0 1 1 0 40 40\n"
			    "o 1078 0 0 1 5 4 160 100\no 10a0 2 0 1 5 4 640 65535\nend 1\n";

static struct jprof_profile *heap_of(const char *body, const char *stacks, enum jprof_heap heap)
{
	size_t len, table_len = 0;
	char *text = dump_text(stacks, &len), *table = table_text(text, len, body, &table_len);
	struct jprof_profile_opts opts = { .size = sizeof opts, .table = table, .table_len = table_len, .heap = heap };
	struct jprof_profile *p = NULL;
	assert_int_equal(jprof_profile_parse(text, len, "test.heap", &opts, &p, NULL), 0);
	free(table);
	free(text);
	return p;
}

/* By Horvitz and Thompson: an object with the chance p stands for slot / p bytes, and has the variance (slot/p)^2(1-p).
 */
TEST(test_slots)
{
	char stacks[512];
	stack(stacks, sizeof stacks, 7, (const uint64_t[]){ 0x401000, NODE(2), EPOCH(1) }, 3);
	const double small = 1 - exp(-40 / 64.0), large = 1 - exp(-100 / 64.0);
	const double given = 7 / (1 - exp(-7.0)); /* by malloc, one sample a byte */
	const double sum = 3 * 40 / small + 160 / large + 640;
	const double error = sqrt(3 * pow(40 / small, 2) * (1 - small) + pow(160 / large, 2) * (1 - large));
	struct jprof_profile *p = heap_of(slots, stacks, JPROF_HEAP_SLOTS);
	struct jprof_range range;
	assert_true(jprof_profile_info(p)->has_slots && jprof_profile_info(p)->has_ruby);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), sum);
	assert_near(jprof_profile_total(p, JPROF_INUSE_OBJECTS), 3 / small + 1 / large + 1);
	jprof_profile_range(p, JPROF_INUSE_SPACE, &range);
	assert_near(range.error, error);
	assert_near(range.samples, 5);
	assert_true(range.low < sum && range.high > sum);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	char *is = stacks_of(p);
	assert_string_equal(is,
	                    "812: String object < Shop.find app/a.rb:12\n86: Object object < Shop.find app/a.rb:12\n"
	                    "202: String object\n");
	free(is);
	jprof_profile_free(p);
	p = heap_of(slots, stacks, JPROF_HEAP_ALL);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), sum + given);
	assert_near(jprof_profile_heap_total(p, JPROF_HEAP_SLOTS, JPROF_INUSE_SPACE, false), sum);
	assert_near(jprof_profile_heap_total(p, JPROF_HEAP_MALLOC, JPROF_INUSE_SPACE, false), given);
	assert_int_equal(jprof_profile_notes(p), 0);
	jprof_profile_free(p);
	p = heap_of(slots, stacks, JPROF_HEAP_MALLOC);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), given);
	assert_false(jprof_profile_info(p)->has_slots);
	assert_contains(jprof_profile_note(p, 0), "these rows are of malloc alone");
	assert_int_equal(jprof_profile_note_advice(p, 0), JPROF_ADVICE_HEAP);
	jprof_profile_free(p);
}

/* R = 64,000,000: three objects of 40 bytes stand for some 64,000,000 each, one of 160 by a sample of 100 for
 * 102,400,000, one of 640 by one of 65,535 for 625,000: 295.0 million bytes, which are 281.4 MB, and
 * 1.96 * sqrt(3 * 64^2 + 102.4^2) million more or less, 282.1 MB. */
TEST(test_slots_note)
{
	char stacks[512];
	stack(stacks, sizeof stacks, 7, (const uint64_t[]){ 0x401000, NODE(2), EPOCH(1) }, 3);
	const char *rate = strstr(slots, "64\n");
	char body[sizeof slots + 8];
	snprintf(body, sizeof body, "%.*s64000000%s", (int)(rate - slots), slots, rate + 2);
	struct jprof_profile *p = heap_of(body, stacks, JPROF_HEAP_MALLOC);
	assert_contains(jprof_profile_note(p, 0), " take 281.4 MB (+-282.1) beside, by 5 samples");
	jprof_profile_free(p);
}

/* What malloc gave is explained by samples of malloc alone; Ruby's heap has rows of its own. */
TEST(test_slots_explained)
{
	char stacks[512];
	stack(stacks, sizeof stacks, 7, (const uint64_t[]){ 0x401000, NODE(2), EPOCH(1) }, 3);
	struct jprof_profile *p = heap_of(slots, stacks, JPROF_HEAP_ALL);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	struct jprof_explanation *e;
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	const double given = 7 / (1 - exp(-7.0));
	const struct jprof_explained *live = jprof_explain_at(e, 0), *kind = jprof_explain_at(e, 1);
	assert_int_equal(live->part, JPROF_PART_LIVE);
	assert_near(live->bytes, given);
	assert_near(live->range.samples, 1);
	assert_int_equal(kind->part, JPROF_PART_KIND);
	assert_near(kind->bytes, given);
	jprof_explain_free(e);
	jprof_profile_free(p);
}

/* R = 64. A Hash of Ruby 3.1 whose 144 bytes of data a collection moved into 160 of jemalloc's. */
static const char moved[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\nn 2 0 1 12 2 . 3\nm 4 0 after-gc 0\nslots 64\n"
			    "o 1000 2 0 1 8 0 40 40\nb 144\nend 2\n";

static char *moved_stacks(int bytes, enum jprof_heap heap, struct jprof_range *range)
{
	char stacks[512];
	stack(stacks, sizeof stacks, bytes, (const uint64_t[]){ 0x401000, NODE(4), EPOCH(1) }, 3);
	struct jprof_profile *p = heap_of(moved, stacks, heap);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	jprof_profile_range(p, JPROF_INUSE_SPACE, range);
	char *is = stacks_of(p);
	jprof_profile_free(p);
	return is;
}

/* The Hash stands for 40 / p bytes of slots and 160 / p of data, p = 1 - exp(-40/64): 86 and 344, and a standard error
 * of the latter, 344 sqrt(1-p), is 252. So it is given 596 of 1000, and all of 200. Slots and data are one sample,
 * whose variance is (their bytes)^2 (1-p). */
TEST(test_moved)
{
	const double p = 1 - exp(-40 / 64.0);
	struct jprof_range range;
	char *is = moved_stacks(1000, JPROF_HEAP_ALL, &range);
	assert_string_equal(is, "404: subject+0x1000 < after a GC: creator not known\n"
	                        "596: subject+0x1000 < data of Hash, moved by a GC < Shop.find app/a.rb:12\n"
	                        "86: Hash object < Shop.find app/a.rb:12\n");
	assert_true(fabs(range.error - (596 + 40 / p) * sqrt(1 - p)) < 1);
	free(is);
	is = moved_stacks(200, JPROF_HEAP_ALL, &range);
	assert_contains(is, "200: subject+0x1000 < data of Hash, moved by a GC < Shop.find app/a.rb:12\n");
	assert_contains(is, "0: subject+0x1000 < after a GC: creator not known\n");
	free(is);
	is = moved_stacks(1000, JPROF_HEAP_MALLOC, &range);
	assert_string_equal(is, "1000: subject+0x1000 < after a GC: creator not known\n");
	free(is);
}

/* Of a difference with a dump that has no samples of objects, nothing that was moved has a line. */
TEST(test_moved_difference)
{
	static const char plain[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\nn 2 0 1 12 2 . 3\nm 4 0 after-gc 0\nend 2\n";
	char more[512], less[512];
	stack(more, sizeof more, 1000, (const uint64_t[]){ 0x401000, NODE(4), EPOCH(1) }, 3);
	stack(less, sizeof less, 400, (const uint64_t[]){ 0x401000, NODE(4), EPOCH(1) }, 3);
	for (int side = 0; side < 2; side++) {
		struct jprof_profile *now = heap_of(side ? moved : plain, more, JPROF_HEAP_ALL),
				     *base = heap_of(side ? plain : moved, less, JPROF_HEAP_ALL);
		assert_int_equal(jprof_profile_difference(now, base, NULL), 0);
		char *is = stacks_of(now);
		assert_contains(is, "600: after a GC: creator not known\n");
		assert_contains(is, "0: data of Hash, moved by a GC < Shop.find app/a.rb:12\n");
		free(is);
		jprof_profile_free(now);
		jprof_profile_free(base);
	}
}

/* A difference of two that have them; one of a dump that has none is of malloc alone, and says so. */
TEST(test_slots_difference)
{
	static const char fewer[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\ns 4 String\nn 2 0 1 12 2 . 3\nslots 64\n"
				    "o 1000 2 0 1 5 4 40 40\nend 1\n";
	static const char plain[] = "s 1 app/a.rb\ns 2 Shop\ns 3 find\nn 2 0 1 12 2 . 3\nend 1\n";
	char stacks[512];
	stack(stacks, sizeof stacks, 7, (const uint64_t[]){ 0x401000, NODE(2), EPOCH(1) }, 3);
	const double small = 1 - exp(-40 / 64.0), large = 1 - exp(-100 / 64.0);
	struct jprof_profile *now = heap_of(slots, stacks, JPROF_HEAP_ALL), *base = heap_of(fewer, stacks, 0);
	assert_int_equal(jprof_profile_difference(now, base, NULL), 0);
	assert_near(jprof_profile_total(now, JPROF_INUSE_SPACE), 2 * 40 / small + 160 / large + 640);
	assert_near(jprof_profile_heap_total(now, JPROF_HEAP_SLOTS, JPROF_INUSE_SPACE, true), 40 / small);
	assert_int_equal(jprof_profile_notes(now), 0);
	jprof_profile_free(now);
	jprof_profile_free(base);
	for (int side = 0; side < 2; side++) {
		now = heap_of(side ? slots : plain, stacks, JPROF_HEAP_ALL);
		base = heap_of(side ? plain : slots, stacks, JPROF_HEAP_ALL);
		assert_int_equal(jprof_profile_difference(now, base, NULL), 0);
		assert_near(jprof_profile_total(now, JPROF_INUSE_SPACE), 0);
		assert_false(jprof_profile_info(now)->has_slots);
		assert_contains(jprof_profile_note(now, 0), side ? "in the later one alone" : "in the base alone");
		jprof_profile_free(now);
		jprof_profile_free(base);
	}
}
