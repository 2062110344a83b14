/* The profile in a jemalloc's own records: planted ones, whose dump was worked out by hand, and hostile ones. Real ones
 * are in test_jeheap.c, beside prof.dump. */
#include "harness.h"
#include "outside/lostsamples.h"
#include "plantedheap.h"

/* One sample of 20480 bytes, taken once in 16384, stands for 1.4 objects (11 eighths) and 28704 bytes. */
enum { class_20k = 37, eighths = 11, unbiased = 28704 };

#define THREAD(i) (PLANTED_STACK + 0x8000 + (i)*0x100ULL)
#define STACK(i) (PLANTED_STACK + 0x10000 + (i)*0x100ULL)
#define CONTEXT(i) (PLANTED_STACK + 0x20000 + (i)*0x100ULL)
#define NAME(i) (PLANTED_STACK + 0x30000 + (i)*0x100ULL)

static void put_thread(struct planted *p, unsigned i, uint64_t id, const char *name)
{
	planted_word(p, THREAD(i) + 8, id);
	planted_word(p, THREAD(i) + 24, NAME(i));
	planted_put(p, NAME(i), name, strlen(name) + 1);
}

static void put_stack(struct planted *p, unsigned i, const uint64_t *addresses, size_t count)
{
	planted_word(p, STACK(i) + 104, STACK(i) + 120);
	planted_word(p, STACK(i) + 112, count);
	planted_put(p, STACK(i) + 120, addresses, count * sizeof *addresses);
}

static void put_context(struct planted *p, unsigned i, unsigned thread, uint64_t id, unsigned stack, uint64_t samples)
{
	uint64_t words[17] = { THREAD(thread), id };
	words[4] = samples;
	words[5] = samples * eighths;
	words[6] = samples * 0x5000 + 1; /* 5.3.1 has whole pages here, and 5.3.0 the size: not used */
	words[7] = samples * unbiased;
	words[12] = STACK(stack);
	words[13] = i;
	words[16] = 1ULL << 32;
	planted_put(p, CONTEXT(i), words, sizeof words);
}

/* The n-th sampled object; its record. */
static uint64_t put_sample(struct planted *p, unsigned n, uint64_t context)
{
	uint64_t record = planted_extent(p, PLANTED_HEAP + n * 0x10000ULL, 0x6000, class_20k, JP_JE_ACTIVE, 0);
	planted_word(p, record + 64, 1000 + n);
	planted_word(p, record + 72, 20000);
	planted_word(p, record + 80, context);
	return record;
}

/* Two threads share a stack; the first has another one, that of its samples which comes last by address. */
static struct planted *planted_profile(void)
{
	static const uint64_t first[] = { 0x401000, 0x402000, 0x403000 }, second[] = { 0x301000, 0x402000 };
	struct planted *p = planted_new(&jp_jelayouts[0]);
	const uint64_t freed = PLANTED_HEAP + 0x90040;
	put_thread(p, 0, 7, "puma srv tp 001");
	put_thread(p, 1, 9, "");
	put_stack(p, 0, first, jp_count(first));
	put_stack(p, 1, second, jp_count(second));
	put_context(p, 0, 0, 7, 0, 2);
	put_context(p, 1, 1, 9, 0, 1);
	put_context(p, 2, 0, 7, 1, 1);
	put_sample(p, 0, CONTEXT(0));
	put_sample(p, 1, CONTEXT(1));
	put_sample(p, 2, CONTEXT(0));
	put_sample(p, 3, CONTEXT(2));
	planted_extent(p, PLANTED_HEAP + 0x80000, 0x6000, class_20k, JP_JE_ACTIVE, 0); /* not sampled */
	planted_extent(p, PLANTED_HEAP + 0x90000, 0x6000, class_20k, JP_JE_ACTIVE, 0);
	planted_cache(p, PLANTED_STACK + 0x1100, class_20k, &freed, 1);
	return p;
}

static struct jp_jeprofile planted_profile_of(struct planted *p)
{
	struct jp_jeheap heap;
	struct jp_jeextents extents;
	struct jp_jeprofile profile;
	assert_int_equal(jp_jeheap_take(&p->base, &heap, &extents), 0);
	assert_int_equal(jp_jeprofile_take(&p->base, &heap, &extents, &profile), 0);
	jp_jeextents_release(&extents);
	return profile;
}

/* Stacks in jemalloc's order, which is that of their bytes: 0x301000 is before 0x401000. */
TEST(test_dump)
{
	struct planted *p = planted_profile();
	struct jp_jeprofile profile = planted_profile_of(p);
	struct jp_strbuf text = { 0 };
	assert_int_equal(profile.count, 3);
	assert_int_equal(jp_jeprofile_write(&profile, &p->base, NULL, &text), 0);
	assert_false(text.failed);
	char *maps = strstr(text.text, "\nMAPPED_LIBRARIES:\n");
	assert_non_null(maps);
	assert_non_null(strstr(maps, "7f0000000000-7f0000001000 rw-p 00004000 fe:01 33 /usr/lib/libjemalloc.so.2\n"));
	*maps = 0;
	assert_string_equal(text.text, "heap_v2/16384\n"
	                               "  t*: 4: 82705 [0: 0]\n"
	                               "  t7: 3: 62029 [0: 0] puma srv tp 001\n"
	                               "  t9: 1: 20676 [0: 0]\n"
	                               "@ 0x301000 0x402000\n"
	                               "  t*: 1: 20676 [0: 0]\n"
	                               "  t7: 1: 20676 [0: 0]\n"
	                               "@ 0x401000 0x402000 0x403000\n"
	                               "  t*: 3: 62029 [0: 0]\n"
	                               "  t7: 2: 41353 [0: 0]\n"
	                               "  t9: 1: 20676 [0: 0]\n");
	jp_strbuf_release(&text);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

/* Of two of the four samples, and of a block that was none; and where the list says nothing. */
TEST(test_lost)
{
	struct planted *p = planted_profile();
	struct jp_jeprofile profile = planted_profile_of(p);
	struct jp_lostblock blocks[] = { { .address = PLANTED_HEAP + 0x40 },
		                         { .address = PLANTED_HEAP + 0x30040 },
		                         { .address = PLANTED_HEAP + 0x80040 } };
	struct jp_lostblocks lost = { .known = true, .items = blocks, .count = jp_count(blocks) };
	struct jp_strbuf text = { 0 };
	assert_int_equal(jp_lostsamples_write(&lost, &profile, &p->base, &text), 0);
	char *maps = strstr(text.text, "\nMAPPED_LIBRARIES:\n");
	assert_non_null(maps);
	*maps = 0;
	assert_string_equal(text.text, "heap_v2/16384\n"
	                               "  t*: 2: 41353 [0: 0]\n"
	                               "  t7: 2: 41353 [0: 0] puma srv tp 001\n"
	                               "@ 0x301000 0x402000\n"
	                               "  t*: 1: 20676 [0: 0]\n"
	                               "  t7: 1: 20676 [0: 0]\n"
	                               "@ 0x401000 0x402000 0x403000\n"
	                               "  t*: 1: 20676 [0: 0]\n"
	                               "  t7: 1: 20676 [0: 0]\n");
	jp_strbuf_release(&text);
	lost.known = false;
	assert_int_equal(jp_lostsamples_write(&lost, &profile, &p->base, &text), 0);
	assert_int_equal(text.len, 0);
	jp_strbuf_release(&text);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

/* A thread's own table (struct ckh_s of ckh.h): where it is found, it says which contexts the thread has. One that no
 * sample was found of is there, and one that has gone since its sample was found is not. */
TEST(test_table_of_thread)
{
	enum { number_at = 72, buckets_at = 80, cells_at = 104, context = 8, cell = 16 };
	const uint64_t cells = PLANTED_STACK + 0x38000;
	for (int known = 0; known < 2; known++) {
		struct planted *p = planted_profile();
		put_context(p, 3, 0, 7, 1, 5);
		planted_word(p, THREAD(0) + number_at, 2);
		planted_word(p, THREAD(0) + buckets_at, 1ULL << 32); /* two of four cells each */
		planted_word(p, THREAD(0) + cells_at, cells);
		planted_word(p, cells + 7 * cell + context, CONTEXT(3));
		if (known)
			planted_word(p, cells + 2 * cell + context, CONTEXT(0));
		struct jp_jeprofile profile = planted_profile_of(p);
		struct jp_strbuf text = { 0 };
		assert_int_equal(jp_jeprofile_write(&profile, &p->base, NULL, &text), 0);
		bool fresh = strstr(text.text, "@ 0x301000 0x402000\n  t*: 5: 103382 [0: 0]\n");
		assert_int_equal(fresh, known); /* a table without a context that samples led to is none */
		assert_int_equal(profile.count, 3);
		jp_strbuf_release(&text);
		jp_jeprofile_release(&profile);
		jp_memsource_close(&p->base);
	}
}

/* The process began at 100 s after boot; the machine at 1,000,000 s. */
static struct jp_jeages planted_ages(uint64_t now_ms)
{
	return (struct jp_jeages){ .pid = 17,
		                   .start_ticks = 10000,
		                   .began = 100000,
		                   .now = now_ms,
		                   .boot = 1000000000,
		                   .realtime = -1000000000,
		                   .ids = 0x70000000 };
}

TEST(test_epochs)
{
	const uint64_t second = 1000000000, since_1970 = 2000000000;
	struct jp_jeages a = planted_ages(900000);
	assert_int_equal(jp_jeages_epoch(&a, 99 * second), 1); /* before the fork */
	assert_int_equal(jp_jeages_epoch(&a, 100 * second - second / 32), 1);
	assert_int_equal(jp_jeages_epoch(&a, 100 * second - second / 64), 2); /* jemalloc's clock is coarse */
	assert_int_equal(jp_jeages_epoch(&a, 100 * second), 2);
	assert_int_equal(jp_jeages_epoch(&a, 159 * second), 2);
	assert_int_equal(jp_jeages_epoch(&a, 160 * second), 3);
	assert_int_equal(jp_jeages_epoch(&a, 760 * second), 4);
	assert_int_equal(jp_jeages_epoch(&a, 5000 * second), 4); /* after the look */
	assert_int_equal(jp_jeages_running(&a), 4);
	/* prof_time_resolution:high has the other clock. */
	a.boot = since_1970 * 1000;
	a.realtime = -(int64_t)a.boot;
	assert_int_equal(jp_jeages_epoch(&a, (since_1970 + 170) * second), 3);
	jp_jeages_release(&a);
}

/* A core written at 2,000,000 s: its samples are from 500 to 1,300 s of jemalloc's clock, so they began 800 s before.
 */
TEST(test_ages_of_core)
{
	const uint64_t second = 1000000000;
	struct planted *p = planted_profile();
	planted_word(p, put_sample(p, 20, CONTEXT(0)) + 64, 500 * second);
	planted_word(p, put_sample(p, 21, CONTEXT(1)) + 64, 1300 * second);
	struct jp_jeprofile profile = planted_profile_of(p);
	struct jp_strbuf text = { 0 }, table = { 0 };
	uint64_t first, last;
	assert_true(jp_jeprofile_times(&profile, &first, &last));
	assert_int_equal(last, 1300 * second);
	assert_true(first < 1000000); /* of those that were planted before, some microseconds after the boot */
	struct jp_jeages a = jp_jeages_of_core(17, 500 * second, last, 2000000, p->base.maps);
	assert_int_equal(jp_jeages_epoch(&a, 500 * second), 2);
	assert_int_equal(jp_jeages_epoch(&a, 559 * second), 2);
	assert_int_equal(jp_jeages_epoch(&a, 560 * second), 3);
	assert_int_equal(jp_jeages_epoch(&a, 1300 * second), jp_jeages_running(&a));
	jp_jeages_write(&a, &text, &table);
	const char *rest = strstr(table.text, "\ntime ");
	assert_non_null(rest);
	assert_string_equal(rest, "\ntime 2000000.000\nstart 1999200.000 2 0\nbounds 3 5\nend 0\n");
	/* The other clock says when it was by itself. */
	a = jp_jeages_of_core(17, (3000000000 - 800) * second, 3000000000 * second, 2000000, p->base.maps);
	assert_int_equal(jp_jeages_epoch(&a, (3000000000 - 800) * second), 2);
	table.len = 0;
	jp_jeages_write(&a, &text, &table);
	assert_non_null(strstr(table.text, "\ntime 3000000000.000\nstart 2999999200.000 2 0\n"));
	jp_strbuf_release(&table);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

/* A stack is divided among its epochs. Context 0 has two samples, one of them from before the start; context 1 one that
 * its counter has, and one that has gone; context 2 has two, of which one was found, and the other is the youngest. */
TEST(test_ages)
{
	static const uint64_t second = 1000000000, times[] = { 50, 120, 130, 170 };
	struct planted *p = planted_profile();
	struct jp_jeages ages = planted_ages(2000000);
	put_context(p, 2, 0, 7, 1, 2);
	for (unsigned i = 0; i < jp_count(times); i++)
		planted_word(p, put_sample(p, i, CONTEXT(i == 1 ? 1 : i == 3 ? 2 : 0)) + 64, times[i] * second);
	planted_word(p, put_sample(p, 10, CONTEXT(1)) + 64, 120 * second);
	struct jp_jeprofile profile = planted_profile_of(p);
	struct jp_strbuf text = { 0 }, table = { 0 };
	assert_int_equal(jp_jeprofile_write(&profile, &p->base, &ages, &text), 0);
	char *stacks = strchr(text.text, '@'), *maps = strstr(text.text, "\nMAPPED_LIBRARIES:\n");
	assert_non_null(strstr(maps, "\n70000000-70200000 ---s 00000000 00:01 0 /memfd:jprof-ids:1 (deleted)\n"));
	jp_jeages_write(&ages, &text, &table);
	*maps = 0;
	assert_string_equal(stacks,
	                    "@ 0x301000 0x402000 0x70000007\n  t*: 1: 20676 [0: 0]\n  t7: 1: 20676 [0: 0]\n"
	                    "@ 0x301000 0x402000 0x7000000d\n  t*: 1: 20676 [0: 0]\n  t7: 1: 20676 [0: 0]\n"
	                    "@ 0x401000 0x402000 0x403000 0x70000003\n  t*: 1: 20676 [0: 0]\n  t7: 1: 20676 [0: 0]\n"
	                    "@ 0x401000 0x402000 0x403000 0x70000005\n  t*: 2: 41353 [0: 0]\n  t7: 1: 20676 [0: 0]\n"
	                    "  t9: 1: 20676 [0: 0]\n");
	char *rest = strstr(table.text, "\nids ");
	assert_non_null(rest);
	assert_string_equal(rest, "\nids 70000000 0 0 0 100000\ntime 1002000.000\nstart 1000100.000 2 1\nbounds 5 7\n"
	                          "e 1 1000000.000 1000100.000\ne 2 1000100.000 1000160.000\n"
	                          "e 3 1000160.000 1000760.000\ne 6 1001960.000 -\nend 0\n");
	jp_strbuf_release(&text);
	jp_strbuf_release(&table);
	jp_jeages_release(&ages);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

TEST(test_no_samples)
{
	struct planted *p = planted_new(&jp_jelayouts[0]);
	put_sample(p, 0, 0);
	put_sample(p, 1, 1); /* prof:true, and this one is not sampled */
	struct jp_jeprofile profile = planted_profile_of(p);
	assert_int_equal(profile.sample_count, 0);
	assert_int_equal(profile.count, 0);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

/* There are samples, and what they lead to is not what jprof knows. */
static void is_refused(struct planted *p)
{
	struct jp_jeprofile profile = planted_profile_of(p);
	assert_true(profile.sample_count > 0);
	assert_int_equal(profile.count, 0);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

TEST(test_unknown)
{
	struct planted *p = planted_profile();
	planted_word(p, THREAD(0) + 8, 8); /* three of four samples are of a thread with another number */
	is_refused(p);
	p = planted_profile();
	planted_word(p, STACK(0) + 104, STACK(0) + 128);
	is_refused(p);
	p = planted_profile();
	planted_word(p, STACK(0) + 112, 0);
	is_refused(p);
	p = planted_profile();
	planted_word(p, CONTEXT(0) + 128, 9ULL << 32);
	is_refused(p);
	p = planted_profile();
	for (unsigned i = 0; i < 3; i++)
		planted_word(p, CONTEXT(i) + 56, 12345); /* no rate explains that */
	is_refused(p);
}

/* One whose size was too large for its class is of a record that was used again; a context without objects is going. */
TEST(test_stale)
{
	struct planted *p = planted_profile();
	planted_word(p, put_sample(p, 4, CONTEXT(2)) + 72, 30000);
	put_context(p, 3, 0, 7, 1, 0);
	put_sample(p, 5, CONTEXT(3));
	struct jp_jeprofile profile = planted_profile_of(p);
	assert_int_equal(profile.count, 3);
	assert_int_equal(profile.sample_count, 5);
	assert_int_equal(profile.lg_rate, 14);
	jp_jeprofile_release(&profile);
	jp_memsource_close(&p->base);
}

/* Words of the records become others, by a fixed seed. */
TEST(test_hostile_profile)
{
	uint64_t seed = 1;
	static const uint64_t places[] = { CONTEXT(0),   CONTEXT(1), THREAD(0),  STACK(0),
		                           PLANTED_HEAP, ~0ULL,      1ULL << 47, 0 };
	static const uint64_t where[] = { CONTEXT(0), CONTEXT(1), CONTEXT(2), THREAD(0), STACK(0), STACK(0) + 0x60 };
	for (int round = 0; round < 100; round++) {
		struct planted *p = planted_profile();
		for (int n = 0; n < 3; n++)
			planted_word(p, where[next_draw(&seed) % jp_count(where)] + next_draw(&seed) % 17 * 8,
			             places[next_draw(&seed) % jp_count(places)] + next_draw(&seed) % 4);
		struct jp_jeprofile profile = planted_profile_of(p);
		struct jp_strbuf text = { 0 };
		assert_true(profile.count <= 3);
		if (profile.count)
			assert_int_equal(jp_jeprofile_write(&profile, &p->base, NULL, &text), 0);
		jp_strbuf_release(&text);
		jp_jeprofile_release(&profile);
		jp_memsource_close(&p->base);
	}
}

int main(void)
{
	return run_listed(NULL, NULL);
}
