/* The views of stacks: what is expected was worked out by hand. */
#include "harness.h"
#include "model/profile.h"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "a.c", 10, { "a" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "b.c", 20, { "b" } },
	{ 0x403000, JPROF_SOURCE_DWARF, "c.c", 30, { "c" } },
	{ 0x404000, JPROF_SOURCE_DWARF, "m.c", 40, { "main" } },
	{ 0x405000, JPROF_SOURCE_DWARF, "i.c", 50, { "in", "out" } },
	{ 0x406000, JPROF_SOURCE_SYMTAB, NULL, 0, { "(1) x\ny" } },
};

enum { A = 0x401000, B = 0x402000, C = 0x403000, MAIN = 0x404000, IN = 0x405000, ODD = 0x406000, deepest = 40 };

/* A profile of which each sample has the given value of all counters. */
struct sample {
	uint64_t stack[deepest]; /* innermost first, 0 ends */
	double value;
};

static struct jprof_profile *made_of(const struct sample *samples, size_t count)
{
	struct jprof_profile *p = jp_profile_empty();
	const struct jp_object nowhere = { .path = jp_intern_str(&p->strings, ""), .unmapped = true };
	uint32_t object = jp_object_id(p, &nowhere), stack[deepest];
	for (size_t i = 0; i < count; i++) {
		size_t depth = 0;
		for (; depth < deepest && samples[i].stack[depth]; depth++)
			stack[depth] = jp_location_id(p, object, samples[i].stack[depth], samples[i].stack[depth]);
		const double v = samples[i].value;
		const struct jp_values values = { .value = { v, v, v, v } };
		assert_int_equal(jp_sample_add(p, stack, depth, jp_no_label, &values, 1), 0);
	}
	name_locations(p, names, jp_count(names));
	return p;
}

static int append(void *context, const void *data, size_t len)
{
	char *text = context;
	size_t have = strlen(text);
	assert_true(have + len < 8000);
	memcpy(text + have, data, len);
	text[have + len] = '\0';
	return 0;
}

static void check(const struct sample *samples, size_t count, const char *format, const char *should, size_t top)
{
	char is[8000] = "";
	struct jprof_profile *p = made_of(samples, count);
	const struct jprof_report_opts opts = {
		.size = sizeof opts, .show_bytes = true, .top = top, .pattern = "^(a|in)$"
	};
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE });
	struct jprof_error err = { 0 };
	int rc = jprof_render(view, format, &opts, append, is, &err);
	if (rc || strcmp(is, should))
		fail_msg("%d %s\n%s--- should be\n%s", rc, err.text, is, should);
	jprof_view_free(view);
	jprof_profile_free(p);
}

#define CHECK(samples, format, should) check(samples, jp_count(samples), format, should, 0)

TEST(test_tree)
{
	static const struct sample samples[] = {
		{ { A, B, MAIN }, 600 }, { { B, MAIN }, 100 }, { { C, MAIN }, 297 },
		{ { C, B, MAIN }, 1 },   { { A, MAIN }, 2 },
	};
	CHECK(samples, "tree",
	      "Total: 1000 B\n"
	      "       0   0.0%     1000 100.0% + main\n"
	      "     100  10.0%      701  70.1%   + b\n"
	      "     600  60.0%      600  60.0%     + a\n"
	      "       0   0.0%        1   0.1%     + (1 more)\n"
	      "     297  29.7%      297  29.7%   + c\n"
	      "       0   0.0%        2   0.2%   + (1 more)\n");
	check(samples, jp_count(samples), "tree",
	      "Total: 1000 B\n"
	      "       0   0.0%     1000 100.0% + main\n"
	      "     100  10.0%      701  70.1%   + b\n"
	      "       0   0.0%      601  60.1%     + (2 more)\n"
	      "       0   0.0%      299  29.9%   + (2 more)\n",
	      2);
}

/* f calls f; f calls g calls f: once, and marked. Values count once. */
TEST(test_tree_recursion)
{
	static const struct sample samples[] = {
		{ { A, A, A, MAIN }, 300 },
		{ { A, MAIN }, 100 },
		{ { C, B, C, B, C, B, MAIN }, 200 },
		{ { B, C, B, MAIN }, 50 },
	};
	CHECK(samples, "tree",
	      "Total: 650 B\n"
	      "       0   0.0%      650 100.0% + main\n"
	      "     400  61.5%      400  61.5%   + a (recursive)\n"
	      "       0   0.0%      250  38.5%   + b (recursive)\n"
	      "     200  30.8%      250  38.5%     c\n"
	      "      50   7.7%       50   7.7%     + b\n");
}

/* A long chain is cut in its middle. */
TEST(test_tree_chain)
{
	struct sample sample = { .value = 100 };
	char should[2000] = "Total: 100 B\n";
	for (int i = 0; i < 12; i++)
		sample.stack[i] = 0x500000 + 16 * (uint64_t)i;
	for (int i = 11; i >= 0; i--) {
		char line[100];
		if (i == 8)
			strcat(should, "       0   0.0%      100 100.0%   ... 6 more, each called by the one above\n");
		if (i <= 8 && i > 2)
			continue;
		snprintf(line, sizeof line, "%8d %6s %8d %6s %c 0x%x\n", i ? 0 : 100, i ? "0.0%" : "100.0%", 100,
		         "100.0%", i == 11 ? '+' : ' ', 0x500000 + 16 * i);
		strcat(should, line);
	}
	check(&sample, 1, "tree", should, 0);
}

TEST(test_tree_of_a_difference)
{
	static const struct sample samples[] = { { { A, B, MAIN }, 500 },
		                                 { { C, B, MAIN }, -500 },
		                                 { { C, MAIN }, 100 } };
	CHECK(samples, "tree",
	      "Total: 100 B\n"
	      "       0   0.0%      100 100.0% + main\n"
	      "     100 100.0%      100 100.0%   + c\n"
	      "       0   0.0%        0   0.0%   + b\n"
	      "     500 500.0%      500 500.0%     + a\n"
	      "    -500 -500.0%     -500 -500.0%     + c\n");
}

TEST(test_traces)
{
	static const struct sample samples[] = { { { A, MAIN }, 100 }, { { IN, B }, -300 }, { { ODD }, 0 } };
	CHECK(samples, "traces",
	      "Total: -200 B\n"
	      "----------------+-------------------------------------------------------\n"
	      "    -300 150.0%   in (inline)\n"
	      "                  out\n"
	      "                  b\n"
	      "----------------+-------------------------------------------------------\n"
	      "     100 -50.0%   a\n"
	      "                  main\n"
	      "----------------+-------------------------------------------------------\n");
}

TEST(test_peek)
{
	static const struct sample samples[] = { { { A, B, A, MAIN }, 100 },
		                                 { { C, A, MAIN }, 300 },
		                                 { { C, MAIN }, 600 } };
	CHECK(samples, "peek",
	      "Total: 1000 B\n"
	      "----------------------------------------------------------+-------------\n"
	      "    flat  flat%   sum%      cum   cum%       calls calls% |   callers, function, callees\n"
	      "----------------------------------------------------------+-------------\n"
	      "                                               400 100.0% |   main\n"
	      "                                               100  25.0% |   b\n"
	      "     100  10.0%  10.0%      400  40.0%                    | a\n"
	      "                                               300  75.0% |   c\n"
	      "                                               100  25.0% |   b\n"
	      "----------------------------------------------------------+-------------\n");
}

/* Recursion: a's outermost frame has all of it, once. */
TEST(test_callgrind)
{
	static const struct sample samples[] = { { { A, A, A, MAIN }, 100.4 }, { { ODD, MAIN }, 7.7 } };
	char expected[2000];
	snprintf(expected, sizeof expected,
	         "# callgrind format\nversion: 1\ncreator: jprof %s\npositions: line\n"
	         "event: inuse_space : Bytes in use\nevents: inuse_space\nsummary: 108\n"
	         "\nob=(1) ???\nfl=(1) ???\nfn=(1) x\\x0ay\n0 8\n"
	         "\nob=(1)\nfl=(2) a.c\nfn=(2) a\ncfn=(3) a'2\ncalls=100 10\n10 100\n"
	         "\nob=(1)\nfl=(2)\nfn=(3)\ncfn=(4) a'3\ncalls=100 10\n10 100\n"
	         "\nob=(1)\nfl=(2)\nfn=(4)\n10 100\n"
	         "\nob=(1)\nfl=(3) m.c\nfn=(5) main\ncfi=(1)\ncfn=(1)\ncalls=8 0\n40 8\n"
	         "cfi=(2)\ncfn=(2)\ncalls=100 10\n40 100\n"
	         "\ntotals: 108\n",
	         jprof_version());
	CHECK(samples, "callgrind", expected);
}

TEST(test_list_without_source)
{
	static const struct sample samples[] = { { { IN, MAIN }, 100 }, { { A, MAIN }, -50 } };
	CHECK(samples, "list",
	      "ROUTINE ====================== in in i.c\n"
	      "   100    100 Total B (flat / cumulative)\n"
	      "(no source: i.c: is named by the input alone, and not by an object file that was found here)\n"
	      "   100    100   50: \n"
	      "ROUTINE ====================== a in a.c\n"
	      "   -50    -50 Total B (flat / cumulative)\n"
	      "(no source: as above)\n"
	      "   -50    -50   10: \n");
}

TEST(test_patterns)
{
	static const char *const formats[] = { "peek", "list", "disasm" };
	static const struct sample sample = { { A, MAIN }, 100 };
	struct jprof_profile *p = made_of(&sample, 1);
	struct jprof_view *view = view_of(p, NULL);
	char is[8000] = "";
	for (size_t i = 0; i < jp_count(formats); i++) {
		static const char *const patterns[] = { NULL, "", "(", "nothing", "^(.|..|...)+(?<=!!)" };
		for (size_t k = 0; k < jp_count(patterns); k++) {
			const struct jprof_report_opts opts = { .size = sizeof opts, .pattern = patterns[k] };
			struct jprof_error err = { 0 };
			assert_int_equal(jprof_render(view, formats[i], &opts, append, is, &err), JPROF_E_ARGUMENT);
			assert_is_message(err.text);
			assert_contains(err.text, formats[i]);
		}
	}
	assert_string_equal(is, "");
	jprof_view_free(view);
	jprof_profile_free(p);
}
