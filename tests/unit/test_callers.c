/* Who called what has no name. 0x401..: functions with a name, 0x402..: without one. */
#include "harness.h"
#include "model/profile.h"
#include "view/callers.h"

#define MAPS "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
#define COUNTERS "\n  t*: 1: 100 [0: 0]\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_SYMTAB, NULL, 0, { "main" } },
	{ 0x401010, JPROF_SOURCE_DYNSYM, NULL, 0, { "load" } },
	{ 0x401020, JPROF_SOURCE_DYNSYM, NULL, 0, { "store" } },
	{ 0x402000, JPROF_SOURCE_FDE, NULL, 0, { "server!0x2000" } },
	{ 0x402010, JPROF_SOURCE_FDE, NULL, 0, { "server!0x2010" } },
	{ 0x402020, JPROF_SOURCE_NONE, NULL, 0, { "server+0x2020" } },
};

static void check(const char *stacks, const char *row, const char *caller)
{
	char text[2048];
	snprintf(text, sizeof text, "heap_v2/1\n%s" MAPS, stacks);
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.fold = JPROF_FOLD_RAW });
	const char **callers = jp_sole_callers(view);
	assert_non_null(callers);
	for (uint32_t i = 0; i < view->row_count; i++) {
		const char *is = jp_sole_caller(view, callers, &view->rows[i]);
		if (strcmp(view->rows[i].name, row))
			continue;
		if (caller)
			assert_string_equal(is ? is : "", caller);
		else
			assert_null(is);
	}
	free(callers);
	jprof_view_free(view);
	jprof_profile_free(p);
}

TEST(test_sole_callers)
{
	check("@ 0x402000 0x401011 0x401001" COUNTERS, "server!0x2000", "load");
	check("@ 0x402000 0x401011" COUNTERS "@ 0x401020 0x402001 0x401011 0x401001" COUNTERS, "server!0x2000", "load");
	check("@ 0x402000 0x402001 0x401011 0x401001" COUNTERS, "server!0x2000", "load"); /* recursion */
	check("@ 0x402020 0x401011 0x401001" COUNTERS, "server+0x2020", "load");
	/* several; none; one that has no name either; one in some stacks only */
	check("@ 0x402000 0x401011" COUNTERS "@ 0x402000 0x401021" COUNTERS, "server!0x2000", NULL);
	check("@ 0x402000" COUNTERS, "server!0x2000", NULL);
	check("@ 0x402000 0x402011 0x401001" COUNTERS, "server!0x2000", NULL);
	check("@ 0x402000 0x401011" COUNTERS "@ 0x402000" COUNTERS, "server!0x2000", NULL);
	check("@ 0x402000 0x401011" COUNTERS "@ 0x401020 0x402001" COUNTERS, "server!0x2000", NULL);
	check("@ 0x401010 0x401021 0x401001" COUNTERS, "load", NULL); /* has a name */
}

/* It is never a part of the name. */
TEST(test_in_the_report)
{
	struct jprof_profile *p = profile_of("heap_v2/1\n@ 0x402000 0x401011" COUNTERS MAPS);
	name_locations(p, names, jp_count(names));
	char *without = text_of(p, &(const struct asked){ .view.fold = JPROF_FOLD_RAW }),
	     *with = text_of(p, &(const struct asked){ .view.fold = JPROF_FOLD_RAW, .report.called_by = true });
	assert_contains(without, "server!0x2000\n");
	assert_contains(with, "server!0x2000  called by load\n");
	free(with);
	free(without);
	jprof_profile_free(p);
}

TEST(test_stems)
{
	static const struct {
		const char *base;
		size_t length;
	} cases[] = {
		{ "libruby-3.1.so.3.1.2", 11 },
		{ "stringio.so", 8 },
		{ "libc.so.6 (deleted)", 4 },
		{ "ruby3.1", 7 },
		{ "libfoo.solid", 12 },
		{ "libfoo.solid.so.1", 12 },
		{ ".so", 3 },
		{ "libstdc++.so.6.0.30", 9 },
		{ "ld-linux-x86-64.so.2", 15 },
		{ "", 0 },
		{ "binding.node", 12 },
	};
	for (size_t i = 0; i < jp_count(cases); i++)
		assert_int_equal(jp_stem_length(cases[i].base), cases[i].length);
}

/* Two versions of one library stay apart. */
TEST(test_stems_that_meet)
{
	static const char *const should[] = { "libssl.so.3+0x10", "libssl.so.1.1+0x10", "libcrypto+0x10" };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = "/proc/self/fdinfo" };
	struct jprof_profile *p = profile_of("heap_v2/1\n@ 0x400010 0x500011 0x600011" COUNTERS "\nMAPPED_LIBRARIES:\n"
	                                     "00400000-00401000 r-xp 00000000 08:01 42   /usr/lib/libssl.so.3\n"
	                                     "00500000-00501000 r-xp 00000000 08:01 43   /usr/lib/libssl.so.1.1\n"
	                                     "00600000-00601000 r-xp 00000000 08:01 44   /usr/lib/libcrypto.so.3\n");
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jp_location *l = &p->locations[i];
		assert_string_equal(jp_string(p, p->functions[p->frames[l->frame_first].function].brief), should[i]);
	}
	jprof_profile_free(p);
}
