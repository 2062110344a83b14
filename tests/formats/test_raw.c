/* Symbolized files: names before a dump. */
#include "formats.h"

#define DUMP                                                                                                           \
	"heap_v2/1\n"                                                                                                  \
	"  t*: 4: 1000 [0: 0]\n"                                                                                       \
	"@ 0x7f0000000100 0x401001 0x402001\n"                                                                         \
	"  t*: 1: 100000 [0: 0]\n"                                                                                     \
	"@ 0x7f0000000100 0x403001 0x402001\n"                                                                         \
	"  t*: 1: 200000 [0: 0]\n"                                                                                     \
	"@ 0x7f0000000100 0x404001 0x402001\n"                                                                         \
	"  t*: 1: 400000 [0: 0]\n"                                                                                     \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00400000-00500000 r-xp 00000000 08:01 11 /opt/server\n"                                                       \
	"7f0000000000-7f0000100000 r-xp 00000000 08:01 12 /opt/libjemalloc.so.2\n"

static struct jprof_profile *named(const char *text)
{
	struct jprof_profile *p = must_parse(text, strlen(text), NULL);
	assert_int_equal(jprof_profile_symbolize(p, &no_files_here, NULL), 0);
	return p;
}

static double cum(const struct jprof_profile *p, bool full, const char *row)
{
	return cum_of_row(p, (struct jprof_view_opts){ .counter = JPROF_INUSE_SPACE, .full_names = full }, row);
}

TEST(test_names)
{
	struct jprof_profile *p = named("--- symbol\n"
	                                "binary=/opt/server\n"
	                                "0x0000000000401000 outer--middle--ns::inner(int)\n"
	                                "0x402000 main<0000000000001100>\n"
	                                "0x0000000000000000000000403000 A::operator--(int)--B::operator---C::f<int>()\n"
	                                "0x00404000 ??\n"
	                                "0x00007f0000000100 prof_backtrace_impl\n"
	                                "---\n"
	                                "--- heap\n" DUMP);
	assert_int_equal(jprof_profile_notes(p), 0);
	assert_string_equal(jprof_profile_info(p)->format, "symbolized heap_v2");
	assert_true(cum(p, false, "outer") == 100000);
	assert_true(cum(p, false, "middle (inline)") == 100000);
	assert_true(cum(p, false, "ns::inner (inline)") == 100000);
	assert_true(cum(p, true, "ns::inner(int) (inline)") == 100000);
	assert_true(cum(p, false, "main") == 700000);
	assert_true(cum(p, false, "A::operator--") == 200000);
	assert_true(cum(p, false, "B::operator- (inline)") == 200000);
	assert_true(cum(p, true, "C::f<int>() (inline)") == 200000);
	assert_true(cum(p, false, "server+0x4000") == 400000);
	assert_true(cum(p, false, "prof_backtrace_impl") == -1);
	jprof_profile_free(p);
}

/* Each text in one location of its own: what it says from the outermost to the innermost. */
TEST(test_split)
{
	static const struct {
		const char *text, *names[4];
	} cases[] = {
		{ "a--b", { "a", "b" } },
		{ "A::operator--", { "A::operator--" } },
		{ "A::operator----b", { "A::operator--", "b" } },
		{ "operator-(X, Y)--b", { "operator-(X, Y)", "b" } },
		{ "operator-=--b", { "operator-=", "b" } },
		{ "operator->--b", { "operator->", "b" } },
		{ "my_operator--b", { "my_operator", "b" } },
		{ "operators--b", { "operators", "b" } },
		{ "A::operator--b", { "A::operator", "b" } },
		{ "main---[Foo bar]", { "main", "-[Foo bar]" } },
		{ "a----b", { "a", "b" } },
		{ "a--0x12--0123456789abcdef", { "a" } },
	};
	for (size_t c = 0; c < jp_count(cases); c++) {
		char text[4096], row[128];
		snprintf(text, sizeof text, "--- symbol\n0x401000 %s\n---\n--- heap\n%s", cases[c].text, DUMP);
		struct jprof_profile *p = named(text);
		for (size_t n = 0; cases[c].names[n]; n++) {
			snprintf(row, sizeof row, "%s%s", cases[c].names[n], n ? " (inline)" : "");
			if (cum(p, true, row) != 100000)
				fail_msg("%s: no row %s", cases[c].text, row);
		}
		jprof_profile_free(p);
	}
}

TEST(test_mangled_round_trip)
{
	struct jprof_profile *p = named("--- symbol\n"
	                                "0x401000 _ZN2ns5innerEi--_ZN2ns5outerEPKc\n"
	                                "0x403000 _ZN3foo3bar17h05af221e174051e9E\n"
	                                "0x402000 main\n"
	                                "---\n--- heap\n" DUMP);
	assert_true(cum(p, true, "ns::inner(int)") == 100000);
	assert_true(cum(p, false, "ns::outer (inline)") == 100000);
	struct jp_strbuf proto = rendered(p, "proto", false, JPROF_FOLD_NONE);
	struct jprof_profile *read = must_parse(proto.text, proto.len, NULL);
	assert_int_equal(jprof_profile_symbolize(read, &no_files_here, NULL), 0);
	assert_same_rows(p, read, true, true, JPROF_FOLD_NONE, "mangled");
	jp_strbuf_release(&proto);
	jprof_profile_free(read);
	jprof_profile_free(p);
}

/* What jprof adds for itself. A line of it that is wrong leaves the address its text. */
TEST(test_own_lines)
{
	static const struct {
		const char *lines, *row;
		bool full;
	} cases[] = {
		{ "#function=_Z1fi\tf(int)\tf\t/src/f.c\n0x401000 text\n#frames=0:7\n", "f", false },
		{ "#function=_Z1fi\tf(int)\tf\t/src/f.c\n0x401000 text\n#frames=0:7\n", "f(int)", true },
		{ "#function=a\ta\ta\t\n#function=b--c\tb--c\tb--c\t\n0x401000 a--b--c\n#frames=0:1 1:2\n",
		  "b--c (inline)", true },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=wrapper 0:1\n", "a", false },
		{ "0x401000 text\n#frames=0:7\n", "text", false },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=0:7 1:8\n", "text", false },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=0:4294967296\n", "text", false },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=18446744073709551616:1\n", "text", false },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=0\n", "text", false },
		{ "#function=a\ta\ta\t\n0x401000 text\n#frames=\n", "text", false },
		{ "#function=\ta\ta\t\n0x401000 text\n#frames=0:1\n", "text", false },
		{ "#function=a\n0x401000 text\n#frames=0:1\n", "text", false },
		{ "#frames=0:1\n#function=a\ta\ta\t\n0x401000 text\n", "text", false },
		{ "#allocator=\n#allocator=part\n#allocator=library\t\t/nowhere\n#other\n#\n0x401000 text\n", "text",
		  false },
	};
	for (size_t c = 0; c < jp_count(cases); c++) {
		char text[4096];
		snprintf(text, sizeof text, "--- symbol\nbinary=x\n%s---\n--- heap\n%s", cases[c].lines, DUMP);
		struct jprof_profile *p = named(text);
		if (cum(p, cases[c].full, cases[c].row) != 100000)
			fail_msg("case %zu: no row %s", c, cases[c].row);
		jprof_profile_free(p);
	}
}

TEST(test_other_bodies)
{
	struct jprof_profile *p = named("--- symbol\n0x401000 f\n---\n--- growth\n"
	                                "heap profile: 1: 5 [1: 5] @ growthz\n 1: 5 [1: 5] @ 0x401000\n"
	                                "MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 11 /opt/server\n");
	assert_true(cum(p, false, "f") == 5);
	assert_string_equal(jprof_profile_info(p)->format, "symbolized gperftools profile");
	jprof_profile_free(p);
	p = named("--- heap\n" DUMP);
	assert_true(cum(p, false, "server+0x2000") == 700000);
	jprof_profile_free(p);
}

static void refuse(const char *text, const char *part)
{
	must_refuse(text, strlen(text), part);
}

TEST(test_faults)
{
	refuse("--- symbol\n0x1 a\n", "inside its names");
	refuse("--- symbol\n0x1 a\n---\n--- profile\n\1\2", "time or locks");
	refuse("--- symbol\n0x1 a\n---\n--- heap\nrubbish\n", "should go on");
	refuse("--- symbol\n0x1 a\n---\n--- heap\nheap_v2/1\n", "no stack");
	refuse("--- profile\n", "cpu profile");
	struct jprof_profile *p = named("--- symbol\n0x12345678901234567 a\n0x402000 b\n---\n--- heap\n" DUMP);
	assert_noted(p, "test:2: an address of the symbols is wrong");
	assert_true(cum(p, false, "b") == 700000);
	jprof_profile_free(p);
}

/* A line of the dump is counted from the start of the file. */
TEST(test_line_numbers)
{
	const char *text = "--- symbol\n0x1 a\n---\n--- heap\nheap_v2/1\n@ 0x1\n t*: 1: 1 [0: 0]\nrubbish\n";
	struct jprof_profile *p = must_parse(text, strlen(text), NULL);
	assert_noted(p, "test:8:");
	jprof_profile_free(p);
}
