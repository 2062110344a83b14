/* gperftools' text: figures as Perl jeprof computes them for (10, 1000) and (20, 4000). */
#include "formats.h"

#define MAPS                                                                                                           \
	"MAPPED_LIBRARIES:\n"                                                                                          \
	"00400000-00500000 r-xp 00000000 08:01 11 /opt/server\n"                                                       \
	"7f0000000000-7f0000100000 r-xp 00000000 08:01 12 /opt/libtcmalloc.so.4\n"
#define STACKS                                                                                                         \
	"    10:   1000 [    10:   1000] @ 0x7f0000000100 0x401001 0x402001\n"                                         \
	"    20:   4000 [    20:   4000] @ 0x7f0000000100 0x403001 0x402001\n"

static struct jprof_profile *profile_of(const char *text)
{
	return must_parse(text, strlen(text), NULL);
}

static double value(const struct jprof_profile *p, enum jprof_counter counter, const char *row)
{
	return cum_of_row(p, (struct jprof_view_opts){ .counter = counter }, row);
}

static void check(const char *header, const long expected[4], const char *format)
{
	char text[2048];
	snprintf(text, sizeof text, "%s\n%s%s", header, STACKS, MAPS);
	struct jprof_profile *p = profile_of(text);
	assert_int_equal(jprof_profile_notes(p), 0);
	assert_string_equal(jprof_profile_info(p)->format, format);
	assert_int_equal(jprof_profile_symbolize(p, &no_files_here, NULL), 0);
	assert_int_equal((long)value(p, JPROF_INUSE_OBJECTS, "server+0x1000"), expected[0]);
	assert_int_equal((long)value(p, JPROF_INUSE_SPACE, "server+0x1000"), expected[1]);
	assert_int_equal((long)value(p, JPROF_INUSE_OBJECTS, "server+0x3000"), expected[2]);
	assert_int_equal((long)value(p, JPROF_ALLOC_SPACE, "server+0x3000"), expected[3]);
	jprof_profile_free(p);
}

TEST(test_scaling)
{
	static const long v2[] = { 414, 41462, 419, 83936 }, v1[] = { 409, 40960, 409, 81920 },
			  none[] = { 13107, 1310720, 13107, 2621440 }, as_is[] = { 10, 1000, 20, 4000 };
	static const char heap[] = "gperftools heap profile";
	check("heap profile: 30: 5000 [ 30: 5000] @ heap_v2/4096", v2, heap);
	check("heap profile: 30: 5000 [ 30: 5000] @ heap/8192", v1, heap);
	check("heap profile: 30: 5000 [ 30: 5000]", none, heap);
	check("heap profile:     30:     5000 [    30:     5000] @ heapprofile", as_is, heap);
	check("heap profile: 30: 5000 [ 31: 5000]", as_is, heap);
	check("heap profile: 30: 5000 [ 30: 5000] @ growthz", as_is, "gperftools growth profile");
	check("%warn no\nheap profile: 30: 5000 [ 30: 5000] @ heap/8192", v1, heap);
	/* More than a sample's worth each time: version 1 leaves it alone. */
	check("heap profile: 30: 5000 [ 30: 5000] @ heap/20", as_is, heap);
}

TEST(test_default_rate)
{
	struct jprof_profile *p = profile_of("heap profile: 1: 1 [1: 1] @ heap_v2\n" STACKS MAPS);
	assert_int_equal(jprof_profile_info(p)->rate, 131072);
	jprof_profile_free(p);
}

/* No objects: jeprof divides by zero here. */
TEST(test_nothing)
{
	struct jprof_profile *p = profile_of("heap profile: 0: 0 [ 5: 9] @ heap/512\n 0: 0 [ 0: 7] @ 0x401000\n" MAPS);
	assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == 0);
	assert_true(jprof_profile_total(p, JPROF_ALLOC_SPACE) == 7);
	jprof_profile_free(p);
}

TEST(test_memory_map)
{
	struct jprof_profile *p =
	    profile_of("heap profile: 30: 5000 [ 30: 5000] @ heapprofile\n" STACKS "\n--- Memory map: ---\n"
	               "  build=/srv/out\n"
	               "00400000-00500000 r-xp 00000000 08:01 11 $build/bin/server\n");
	assert_int_equal(jprof_profile_notes(p), 0);
	assert_int_equal(jprof_profile_symbolize(p, &no_files_here, NULL), 0);
	struct jprof_coverage *c;
	struct jprof_view *view = folded(p, JPROF_FOLD_RAW);
	assert_int_equal(jprof_coverage_new(view, &c, NULL), 0);
	jprof_view_free(view);
	bool found = false;
	for (size_t i = 0; i < jprof_coverage_count(c); i++)
		found = found || !strcmp(jprof_coverage_at(c, i)->path, "/srv/out/bin/server");
	assert_true(found);
	jprof_coverage_free(c);
	jprof_profile_free(p);
}

static void refuse(const char *text, const char *part)
{
	must_refuse(text, strlen(text), part);
}

TEST(test_faults)
{
	struct jprof_profile *p =
	    profile_of("heap profile: 30: 5000 [ 30: 5000] @ heapprofile\n" STACKS "rubbish\n" MAPS);
	assert_noted(p, "test:4: a line is neither");
	assert_int_equal(jprof_profile_info(p)->stacks, 2);
	jprof_profile_free(p);
	p = profile_of("heap profile: 30: 5000 [ 30: 5000] @ heapprofile\n" STACKS " 3: 4 [ 3: 4] @ 0x12");
	assert_noted(p, "ends inside a stack; 2 stacks were read");
	jprof_profile_free(p);
	refuse("heap profile: 1", "should read");
	refuse("heap profile: 30: 5000 [ 30: 5000] @ heapprofile\n 1: 1 [1: 1]\n", "no @");
	refuse("heap profile: 30: 5000 [ 30: 5000] @ heapprofile\n 1: 99999999999999999999 [1: 1] @ 0x1\n", "2^63-1");
	refuse("--- contentionz 1 ---\ncycles/second = 1\n", "locks");
	refuse("--- Stacks:\n", "locks");
}

TEST(test_cpu_profile)
{
	static const unsigned char little[] = { 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 16, 39, 0, 0, 0, 0, 0, 0 };
	unsigned char big8[40] = { [15] = 3, [30] = 39 };
	must_refuse(little, sizeof little, "cpu profile");
	must_refuse(big8, sizeof big8, "cpu profile");
}
