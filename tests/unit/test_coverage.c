#include "harness.h"
#include "model/profile.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"                                                 \
	"00500000-00600000 r-xp 00000000 08:01 43   /usr/lib/libb.so\n"                                                \
	"00600000-00700000 r-xp 00000000 08:01 44   /usr/lib/liba.so\n"                                                \
	"00700000-00800000 r-xp 00000000 08:01 45   /usr/lib/unused.so\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "a.c", 1, { "inlined", "f" } },
	{ 0x402000, JPROF_SOURCE_SYMTAB, NULL, 0, { "g" } },
	{ 0x501000, JPROF_SOURCE_DYNSYM, NULL, 0, { "exported" } },
	{ 0x502000, JPROF_SOURCE_FDE, NULL, 0, { "libb.so!0x2000" } },
	{ 0x601000, JPROF_SOURCE_NONE, NULL, 0, { "liba.so+0x1000" } },
};

static const char text[] = "heap_v2/1\n"
			   "@ 0x401000 0x402001\n  t*: 1: 1000 [0: 0]\n"
			   "@ 0x402000 0x402001\n  t*: 1: 2000 [0: 0]\n"
			   "@ 0x501000 0x402001\n  t*: 1: 300 [0: 0]\n"
			   "@ 0x502000 0x402001\n  t*: 1: 3200 [1: 100]\n"
			   "@ 0x601000 0x402001\n  t*: 1: 3500 [0: 0]\n"
			   "@ 0x9 0x402001\n  t*: 1: 100 [0: 0]\n" MAPS;

static struct jprof_coverage *coverage_of(const struct jprof_profile *p, enum jprof_counter counter)
{
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.counter = counter });
	struct jprof_coverage *c;
	assert_int_equal(jprof_coverage_new(view, &c, NULL), 0);
	jprof_view_free(view);
	return c;
}

/* Files by bytes, ties by path; one that no stack passes through is not told of. */
TEST(test_bytes_by_file_and_source)
{
	static const struct {
		const char *path;
		double bytes[JPROF_SOURCES];
		uint64_t addresses[JPROF_SOURCES];
	} should[] = {
		{ "/usr/lib/liba.so", { [JPROF_SOURCE_NONE] = 3500 }, { [JPROF_SOURCE_NONE] = 1 } },
		{ "/usr/lib/libb.so",
		  { [JPROF_SOURCE_FDE] = 3200, [JPROF_SOURCE_DYNSYM] = 300 },
		  { [JPROF_SOURCE_FDE] = 1, [JPROF_SOURCE_DYNSYM] = 1 } },
		{ "/opt/app/server",
		  { [JPROF_SOURCE_SYMTAB] = 2000, [JPROF_SOURCE_DWARF] = 1000 },
		  { [JPROF_SOURCE_SYMTAB] = 1, [JPROF_SOURCE_DWARF] = 1 } },
		{ "", { [JPROF_SOURCE_NONE] = 100 }, { [JPROF_SOURCE_NONE] = 1 } },
	};
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	struct jprof_coverage *c = coverage_of(p, JPROF_INUSE_SPACE);
	assert_int_equal(jprof_coverage_count(c), jp_count(should));
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jprof_coverage_file *file = jprof_coverage_at(c, i);
		assert_string_equal(file->path, should[i].path);
		for (int s = 0; s < JPROF_SOURCES; s++) {
			assert_near(file->bytes[s], should[i].bytes[s]);
			assert_int_equal(file->addresses[s], should[i].addresses[s]);
		}
	}
	jprof_coverage_free(c);
	jprof_profile_free(p);
}

/* Only DYNSYM and better are names: 3300 of 10100 bytes here. */
TEST(test_share_that_is_named)
{
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	struct jprof_coverage *c = coverage_of(p, JPROF_INUSE_SPACE);
	assert_near(jprof_coverage_named(c), 3300.0 / 10100);
	jprof_coverage_free(c);
	c = coverage_of(p, JPROF_ALLOC_SPACE);
	assert_near(jprof_coverage_named(c), 0);
	jprof_coverage_free(c);
	jprof_profile_free(p);
}

TEST(test_an_empty_profile_is_all_named)
{
	struct jprof_profile *p = jp_profile_empty();
	p->named = true;
	struct jprof_coverage *c = coverage_of(p, JPROF_INUSE_SPACE);
	assert_int_equal(jprof_coverage_count(c), 0);
	assert_true(jprof_coverage_named(c) == 1);
	jprof_coverage_free(c);
	jprof_profile_free(p);
	jprof_coverage_free(NULL);
}

/* In a difference what shrank and what grew both count. */
TEST(test_differences)
{
	struct jprof_profile *p = profile_of("heap_v2/1\n@ 0x402000\n  t*: 1: 1000 [0: 0]\n" MAPS);
	struct jprof_profile *base = profile_of("heap_v2/1\n@ 0x502000\n  t*: 1: 3000 [0: 0]\n" MAPS);
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	name_locations(p, names, jp_count(names));
	struct jprof_coverage *c = coverage_of(p, JPROF_INUSE_SPACE);
	assert_near(jprof_coverage_named(c), 0.25);
	assert_string_equal(jprof_coverage_at(c, 0)->path, "/usr/lib/libb.so");
	assert_near(jprof_coverage_at(c, 0)->bytes[JPROF_SOURCE_FDE], -3000);
	jprof_coverage_free(c);
	jprof_profile_free(base);
	jprof_profile_free(p);
}

/* Where files are missing, every one says why and what would help. */
TEST(test_reasons)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = "/proc/self/fdinfo" };
	struct jprof_profile *p = profile_of(text);
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	struct jprof_coverage *c = coverage_of(p, JPROF_INUSE_SPACE);
	assert_near(jprof_coverage_named(c), 0);
	for (size_t i = 0; i < jprof_coverage_count(c); i++) {
		const struct jprof_coverage_file *file = jprof_coverage_at(c, i);
		assert_int_equal(file->proof, JPROF_PROOF_NO_FILE);
		assert_is_message(file->reason);
		assert_is_message(file->advice);
		assert_string_equal(file->build_id, "");
	}
	jprof_coverage_free(c);
	jprof_profile_free(p);
}
