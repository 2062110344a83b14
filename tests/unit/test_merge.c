#include "harness.h"
#include "ops/merge.h"

/* Two runs of one program: the library lies elsewhere, and the program, which is no PIE, does not. */
static const char first[] = "heap_v2/1\n"
			    "@ 0x7f0000001000 0x401000\n  t*: 1: 100 [10: 1000]\n"
			    "@ 0x7f0000001000 0x402000\n  t*: 2: 200 [20: 2000]\n"
			    "@ 0x77 0x402000\n  t*: 4: 400 [40: 4000]\n"
			    "\nMAPPED_LIBRARIES:\n"
			    "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
			    "7f0000000000-7f0000100000 r-xp 00001000 08:01 43   /usr/lib/liba.so\n";
static const char second[] = "heap_v2/1\n"
			     "@ 0x7e5550301000 0x401000\n  t*: 1: 1000 [1: 1000]\n"
			     "@ 0x7e5550301008 0x402000\n  t*: 2: 2000 [2: 2000]\n"
			     "@ 0x77 0x402000\n  t*: 4: 4000 [4: 4000]\n"
			     "\nMAPPED_LIBRARIES:\n"
			     "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
			     "7e5550300000-7e5550400000 r-xp 00001000 08:01 43   /usr/lib/liba.so\n"
			     "7e5550500000-7e5550600000 r-xp 00001000 08:01 44   /usr/lib/libb.so\n";

static struct jprof_profile *merged(const char *a, const char *b, double factor)
{
	struct jprof_profile *p = profile_of(a), *q = profile_of(b);
	assert_int_equal(jp_profile_merge(p, q, factor, NULL), 0);
	jprof_profile_free(q);
	return p;
}

/* Bytes in use of the stack that begins at an offset of an object. */
static double value_at(const struct jprof_profile *p, const char *path, uint64_t offset, uint64_t caller)
{
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		size_t depth;
		const uint32_t *stack = jp_stack_get(p, p->samples.items[i].stack, &depth);
		const struct jp_location *l = &p->locations[stack[0]];
		if (depth == 2 && l->offset == offset && p->locations[stack[1]].address == caller &&
		    !strcmp(jp_string(p, p->objects[l->object].path), path))
			return jprof_profile_value(p, i, JPROF_INUSE_SPACE);
	}
	return NAN;
}

TEST(test_runs_meet_by_file_and_offset)
{
	static const double factors[] = { 1, -1, 2 };
	for (size_t i = 0; i < jp_count(factors); i++) {
		struct jprof_profile *p = merged(first, second, factors[i]);
		assert_int_equal(jp_sample_count(p), 4);
		assert_near(value_at(p, "/usr/lib/liba.so", 0x2000, 0x400fff), 100 + factors[i] * 1000);
		assert_near(value_at(p, "/usr/lib/liba.so", 0x2000, 0x401fff), 200);
		assert_near(value_at(p, "/usr/lib/liba.so", 0x2008, 0x401fff), factors[i] * 2000);
		assert_near(value_at(p, "", 0x77, 0x401fff), 400 + factors[i] * 4000);
		assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), 700 + factors[i] * 7000);
		assert_near(jprof_profile_total(p, JPROF_INUSE_OBJECTS), 7 + factors[i] * 7);
		assert_near(jprof_profile_total(p, JPROF_ALLOC_SPACE), 7000 + factors[i] * 7000);
		assert_near(jprof_profile_total(p, JPROF_ALLOC_OBJECTS), 70 + factors[i] * 7);
		jprof_profile_free(p);
	}
}

static void assert_all_zero(const struct jprof_profile *p)
{
	assert_true(jp_sample_count(p) > 0);
	for (uint32_t i = 0; i < jp_sample_count(p); i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			assert_true(jprof_profile_value(p, i, c) == 0);
}

TEST(test_a_less_a_is_nothing)
{
	struct jprof_profile *p = merged(first, first, -1);
	assert_all_zero(p);
	assert_int_equal(jprof_profile_add(p, p, NULL), 0);
	assert_all_zero(p);
	jprof_profile_free(p);
	p = profile_of(second);
	assert_int_equal(jprof_profile_difference(p, p, NULL), 0); /* the very same object */
	assert_all_zero(p);
	jprof_profile_free(p);
}

/* The same for a real dump, down to the report: no row, no total. */
TEST(test_a_real_dump_less_itself)
{
	struct jprof_dump *dump;
	struct jprof_profile *p, *q;
	assert_int_equal(jprof_dump_open(SAMPLES "/heaps/jemalloc-5.3.0.heap", &dump, NULL), 0);
	assert_int_equal(jprof_profile_new(dump, NULL, &p, NULL), 0);
	assert_int_equal(jprof_profile_new(dump, NULL, &q, NULL), 0);
	assert_int_equal(jprof_profile_difference(p, q, NULL), 0);
	assert_all_zero(p);
	name_locations(p, NULL, 0);
	char *text = text_of(p, NULL);
	assert_string_equal(text, "");
	free(text);
	jprof_profile_free(p);
	jprof_profile_free(q);
	jprof_dump_free(dump);
}

TEST(test_order_does_not_matter_for_sums)
{
	struct jprof_profile *ab = merged(first, second, 1), *ba = merged(second, first, 1);
	assert_int_equal(jp_sample_count(ab), jp_sample_count(ba));
	assert_int_equal(jprof_profile_difference(ab, ba, NULL), 0);
	assert_all_zero(ab);
	jprof_profile_free(ab);
	jprof_profile_free(ba);
}

TEST(test_other_files_stay_apart)
{
	static const char other[] = "heap_v2/1\n@ 0x7f0000001000 0x401000\n  t*: 1: 100 [10: 1000]\n"
				    "\nMAPPED_LIBRARIES:\n"
				    "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
				    "7f0000000000-7f0000100000 r-xp 00001000 08:01 43   /usr/lib/libc.so\n";
	struct jprof_profile *p = merged(first, other, 1);
	assert_int_equal(jp_sample_count(p), 4);
	assert_near(value_at(p, "/usr/lib/liba.so", 0x2000, 0x400fff), 100);
	assert_near(value_at(p, "/usr/lib/libc.so", 0x2000, 0x400fff), 100);
	jprof_profile_free(p);
}

/* Each dump is scaled by its own rate before they meet. */
TEST(test_rates_may_differ)
{
	struct jprof_profile *p =
	    merged("heap_v2/524288\n@ 0x1\n  t*: 1: 524288 [0: 0]\n", "heap_v2/16384\n@ 0x1\n  t*: 3: 300 [0: 0]\n", 1);
	assert_int_equal(jp_sample_count(p), 1);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), 829411.40369110543 + 49302.152587795885);
	jprof_profile_free(p);
}

TEST(test_mappings_of_both_are_kept_once)
{
	struct jprof_profile *p = merged(first, second, 1), *q = profile_of(second);
	assert_int_equal(p->mapping_count, 4);
	assert_int_equal(jprof_profile_add(p, q, NULL), 0);
	assert_int_equal(p->mapping_count, 4);
	jprof_profile_free(p);
	jprof_profile_free(q);
}

TEST(test_merging_into_nothing)
{
	struct jprof_profile *p = jp_profile_empty(), *q = profile_of(first);
	assert_int_equal(jprof_profile_add(p, q, NULL), 0);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), 700);
	assert_string_equal(jp_string(p, p->objects[p->allocator_hint].path), "/usr/lib/liba.so");
	jprof_profile_free(p);
	p = jp_profile_empty();
	assert_int_equal(jprof_profile_add(q, p, NULL), 0);
	assert_near(jprof_profile_total(q, JPROF_INUSE_SPACE), 700);
	jprof_profile_free(p);
	jprof_profile_free(q);
}

/* Counters around 32 bits, alone, and merged with a dump that has their stack and one that has not. */
TEST(test_large_counters)
{
	static const uint64_t cases[][JPROF_COUNTERS] = {
		{ UINT32_MAX, 1, 0, 0 },
		{ UINT64_C(1) << 32, 1, 0, 0 },
		{ (UINT64_C(1) << 40) + 1, UINT32_MAX, 0, 0 },
		{ UINT64_C(1) << 50, (UINT64_C(1) << 32) + 1, 0, 0 },
		{ 1000, 1, UINT64_C(1) << 50, (UINT64_C(1) << 32) + 1 },
		{ 0, 0, 1000, 1 },
	};
	static const char *const others[] = { "0x1", "0x2" };
	for (size_t i = 0; i < jp_count(cases); i++) {
		const uint64_t *n = cases[i];
		char counted[160], text[256], other[256];
		snprintf(counted, sizeof counted, "%llu: %llu [%llu: %llu]", (unsigned long long)n[JPROF_INUSE_OBJECTS],
		         (unsigned long long)n[JPROF_INUSE_SPACE], (unsigned long long)n[JPROF_ALLOC_OBJECTS],
		         (unsigned long long)n[JPROF_ALLOC_SPACE]);
		snprintf(text, sizeof text, "heap_v2/1\n@ 0x1\n  t*: %s\n", counted);
		struct jprof_profile *p = profile_of(text);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			assert_near(jprof_profile_total(p, (enum jprof_counter)c), (double)n[c]);
		jprof_profile_free(p);
		for (size_t o = 0; o < jp_count(others); o++) {
			snprintf(other, sizeof other, "heap_v2/1\n@ %s\n  t*: %s\n", others[o], counted);
			p = merged(text, other, 1);
			for (int c = 0; c < JPROF_COUNTERS; c++)
				assert_near(jprof_profile_total(p, (enum jprof_counter)c), 2 * (double)n[c]);
			assert_int_equal(jp_sample_count(p), o + 1);
			jprof_profile_free(p);
		}
	}
}

/* What each stack had on the other side stays known, also when a difference is added or subtracted itself. */
static void check_base(const struct jprof_profile *p, double base, double now)
{
	double sum = 0;
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		struct jp_values values = jp_sample_values(&p->samples, &p->samples.items[i]);
		assert_true(jp_values_less(&values)->base[JPROF_INUSE_SPACE] >= 0);
		sum += jp_values_less(&values)->base[JPROF_INUSE_SPACE];
	}
	assert_near(sum, base);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE) + sum, now);
}

TEST(test_what_was_subtracted_is_kept)
{
	struct jprof_profile *p = merged(first, second, 1), *q = merged(first, second, -1), *r = profile_of(second);
	check_base(p, 0, 7700);
	check_base(q, 7000, 700);
	assert_int_equal(jprof_profile_add(p, q, NULL), 0);
	check_base(p, 7000, 8400);
	assert_int_equal(jprof_profile_difference(r, q, NULL), 0); /* 7000 - (700 - 7000) */
	check_base(r, 700, 14000);
	jprof_profile_free(p);
	jprof_profile_free(q);
	jprof_profile_free(r);
	/* Dumps of one process, too, and a stack that did not change. */
	p = merged(first, first, -1);
	check_base(p, 700, 700);
	jprof_profile_free(p);
}

/* Dumps of one program, with what it has allocated and where it lies. */
#define SAMPLED(count, stack, program, library)                                                                        \
	"heap_v2/1000\n"                                                                                               \
	"@ " stack "\n  t*: " count " [" count "]\n"                                                                   \
	"\nMAPPED_LIBRARIES:\n" program " r-xp 00000000 08:01 42   /opt/app/server\n" library                          \
	" r-xp 00001000 08:01 43   /usr/lib/liba.so\n"
static const char before[] =
    SAMPLED("3: 300", "0x7f0000001000 0x401000", "00400000-00500000", "7f0000000000-7f0000100000");
static const char after[] =
    SAMPLED("9: 900", "0x7f0000001000 0x401000", "00400000-00500000", "7f0000000000-7f0000100000");
static const char stranger[] =
    SAMPLED("9: 900", "0x7e5550301000 0x801000", "00800000-00900000", "7e5550300000-7e5550400000");
static const char third[] =
    SAMPLED("5: 500", "0x7d0000001000 0xa01000", "00a00000-00b00000", "7d0000000000-7d0000100000");

static struct jprof_range allocated(const struct jprof_profile *p)
{
	struct jprof_range range;
	jprof_profile_range(p, JPROF_ALLOC_SPACE, &range);
	return range;
}

/* Another process may have allocated more than was seen of it: A less B is as uncertain as B less A. */
TEST(test_strangers_may_have_had_more)
{
	struct jprof_profile *p = merged(stranger, before, -1), *q = merged(before, stranger, -1);
	assert_near(allocated(p).low, -allocated(q).high);
	assert_near(allocated(p).high, -allocated(q).low);
	jprof_profile_free(q);

	/* What a difference is added to is as uncertain as if it came first. */
	q = profile_of(third);
	assert_int_equal(jprof_profile_add(q, p, NULL), 0);
	struct jprof_profile *r = profile_of(third);
	assert_int_equal(jprof_profile_add(p, r, NULL), 0);
	assert_near(allocated(p).low, allocated(q).low);
	assert_near(allocated(p).high, allocated(q).high);
	jprof_profile_free(p);
	jprof_profile_free(q);
	jprof_profile_free(r);

	/* One process never takes back what it has allocated in all. */
	p = merged(after, before, -1);
	assert_true(allocated(p).low >= 0);
	jprof_profile_free(p);
}
