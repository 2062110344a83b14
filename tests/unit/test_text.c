/* The text report. What is expected was written by hand from jeprof's rules: a line "Total: VALUE
 * UNIT" unless it is 0, then "%8s %6s %6s %8s %6s %s" of flat, flat%, the running sum of flat%,
 * cum, cum% and the name. */
#include "harness.h"
#include "model/profile.h"

#define MAPS "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "row.c", 10, { "row_new" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "rows.c", 20, { "rows_keep" } },
	{ 0x403000, JPROF_SOURCE_DWARF, "main.c", 30, { "main" } },
	{ 0x404000, JPROF_SOURCE_DWARF, "parse.c", 40, { "parse" } },
	{ 0x405000, JPROF_SOURCE_SYMTAB, NULL, 0, { "two\nlines\033[1m; \"$(x)\" %s" } },
};

/* A profile of which each sample has the given value of all counters. */
struct sample {
	uint64_t stack[3]; /* innermost first, 0 ends */
	double value;
};

static struct jprof_profile *made_of(const struct sample *samples, size_t count)
{
	struct jprof_profile *p = jp_profile_empty();
	const struct jp_object nowhere = { .path = jp_intern_str(&p->strings, ""), .unmapped = true };
	uint32_t object = jp_object_id(p, &nowhere), stack[3];
	for (size_t i = 0; i < count; i++) {
		size_t depth = 0;
		for (; depth < 3 && samples[i].stack[depth]; depth++)
			stack[depth] = jp_location_id(p, object, samples[i].stack[depth], samples[i].stack[depth]);
		const double v = samples[i].value;
		const struct jp_values values = { .value = { v, v, v, v } };
		assert_int_equal(jp_sample_add(p, stack, depth, jp_no_label, &values, 1), 0);
	}
	name_locations(p, names, jp_count(names));
	return p;
}

static void check(const struct sample *samples, size_t count, const struct asked *asked, const char *should)
{
	struct jprof_profile *p = made_of(samples, count);
	char *is = text_of(p, asked);
	if (strcmp(is, should))
		fail_msg("\n%s--- should be\n%s", is, should);
	free(is);
	jprof_profile_free(p);
}

#define CHECK(samples, should, ...) check(samples, jp_count(samples), &(const struct asked){ __VA_ARGS__ }, should)

static const struct sample rows[] = {
	{ { 0x401000, 0x402000, 0x403000 }, 3000 },
	{ { 0x404000, 0x403000 }, 1000 },
	{ { 0x401000, 0x402000, 0x402000 }, 6000 },
};

TEST(test_bytes)
{
	CHECK(rows,
	      "Total: 10000 B\n"
	      "    9000  90.0%  90.0%     9000  90.0% row_new\n"
	      "    1000  10.0% 100.0%     1000  10.0% parse\n"
	      "       0   0.0% 100.0%     4000  40.0% main\n"
	      "       0   0.0% 100.0%     9000  90.0% rows_keep\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
}

TEST(test_cum)
{
	CHECK(rows,
	      "Total: 10000 B\n"
	      "    9000  90.0%  90.0%     9000  90.0% row_new\n"
	      "       0   0.0%  90.0%     9000  90.0% rows_keep\n"
	      "       0   0.0%  90.0%     4000  40.0% main\n"
	      "    1000  10.0% 100.0%     1000  10.0% parse\n",
	      .view.counter = JPROF_ALLOC_SPACE, .report.show_bytes = true, .report.cum = true);
}

TEST(test_top)
{
	CHECK(rows,
	      "Total: 10000 B\n"
	      "    9000  90.0%  90.0%     9000  90.0% row_new\n"
	      "    1000  10.0% 100.0%     1000  10.0% parse\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true, .report.top = 2);
}

/* The base has 20000 in a stack of its own. */
TEST(test_percent_of_the_base)
{
	static const struct sample now[] = { { { 0x401000, 0x402000, 0x403000 }, 3000 },
		                             { { 0x404000, 0x403000 }, 21000 } };
	static const struct sample before[] = { { { 0x404000, 0x403000 }, 20000 } };
	const struct asked asked = { .view.counter = JPROF_INUSE_SPACE,
		                     .view.percent_of_base = true,
		                     .report.show_bytes = true };
	struct jprof_profile *p = made_of(now, jp_count(now)), *base = made_of(before, jp_count(before));
	p->named = base->named = false;
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	p->named = true;
	char *is = text_of(p, &asked);
	assert_string_equal(is, "Total: 4000 B; shares are of the 20000 B in the base\n"
	                        "    3000  15.0%  15.0%     3000  15.0% row_new\n"
	                        "    1000   5.0%  20.0%     1000   5.0% parse\n"
	                        "       0   0.0%  20.0%     4000  20.0% main\n"
	                        "       0   0.0%  20.0%     3000  15.0% rows_keep\n");
	free(is);
	jprof_profile_free(p);
	jprof_profile_free(base);
}

/* MB are 2^20 bytes with one digit; show_bytes has no say over objects. */
TEST(test_units)
{
	static const struct sample samples[] = { { { 0x401000 }, 1572864 }, { { 0x404000 }, 52428.8 } };
	static const char mb[] = "Total: 1.6 MB\n"
				 "     1.5  96.8%  96.8%      1.5  96.8% row_new\n"
				 "     0.1   3.2% 100.0%      0.1   3.2% parse\n";
	static const char objects[] = "Total: 1625292 objects\n"
				      " 1572864  96.8%  96.8%  1572864  96.8% row_new\n"
				      "   52428   3.2% 100.0%    52428   3.2% parse\n";
	CHECK(samples, mb, .view.counter = JPROF_INUSE_SPACE);
	CHECK(samples, mb, .view.counter = JPROF_ALLOC_SPACE);
	CHECK(samples, objects, .view.counter = JPROF_INUSE_OBJECTS);
	CHECK(samples, objects, .view.counter = JPROF_ALLOC_OBJECTS, .report.show_bytes = true);
}

/* Towards zero, and never as "-0". */
TEST(test_truncation)
{
	static const struct sample samples[] = {
		{ { 0x401000 }, 1.75 }, { { 0x404000 }, 0.5 }, { { 0x402000 }, -0.5 }, { { 0x403000 }, -2.75 }
	};
	CHECK(samples,
	      "Total: -1 B\n"
	      "       1 -175.0% -175.0%        1 -175.0% row_new\n"
	      "       0 -50.0% -225.0%        0 -50.0% parse\n"
	      "       0  50.0% -175.0%        0  50.0% rows_keep\n"
	      "      -2 275.0% 100.0%       -2 275.0% main\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
}

TEST(test_wide_columns)
{
	static const struct sample samples[] = { { { 0x401000 }, 103037338 }, { { 0x404000 }, 1e16 } };
	CHECK(samples,
	      "Total: 10000000103037338 B\n"
	      "10000000000000000 100.0% 100.0% 10000000000000000 100.0% parse\n"
	      "103037338   0.0% 100.0% 103037338   0.0% row_new\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
}

TEST(test_a_negative_total)
{
	static const struct sample samples[] = { { { 0x401000, 0x403000 }, 500 }, { { 0x404000, 0x403000 }, -2000 } };
	CHECK(samples,
	      "Total: -1500 B\n"
	      "     500 -33.3% -33.3%      500 -33.3% row_new\n"
	      "       0  -0.0% -33.3%    -1500 100.0% main\n"
	      "   -2000 133.3% 100.0%    -2000 133.3% parse\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
}

TEST(test_a_total_of_zero)
{
	static const struct sample samples[] = { { { 0x401000, 0x403000 }, 500 }, { { 0x404000 }, -500 } };
	CHECK(samples,
	      "     500   +inf   +inf      500   +inf row_new\n"
	      "       0    nan   +inf      500   +inf main\n"
	      "    -500   -inf    nan     -500   -inf parse\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
}

TEST(test_nothing_to_say)
{
	static const struct sample samples[] = { { { 0x401000, 0x403000 }, 0 } };
	CHECK(samples, "", .view.counter = JPROF_ALLOC_SPACE);
	check(samples, 0, NULL, "");
}

/* Whatever a name holds, it is one row. */
TEST(test_hostile_names)
{
	static const struct sample samples[] = { { { 0x405000 }, 100 } };
	CHECK(samples,
	      "Total: 100 B\n"
	      "     100 100.0% 100.0%      100 100.0% two\\x0alines\\x1b[1m; \"$\" %s\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true);
	CHECK(samples,
	      "Total: 100 B\n"
	      "     100 100.0% 100.0%      100 100.0% two\\x0alines\\x1b[1m; \"$(x)\" %s\n",
	      .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true, .view.full_names = true);
}

/* A dump's counters come scaled: 829411.40 bytes, 1.58 objects. */
TEST(test_scaled)
{
	struct jprof_profile *p = profile_of("heap_v2/524288\n@ 0x401000\n  t*: 1: 524288 [0: 0]\n" MAPS);
	const struct asked bytes = { .view.counter = JPROF_INUSE_SPACE, .report.show_bytes = true };
	const struct asked objects = { .view.counter = JPROF_INUSE_OBJECTS };
	name_locations(p, names, jp_count(names));
	static const char *const should[] = {
		"Total: 829411 B\n  829411 100.0% 100.0%   829411 100.0% row_new\n",
		"Total: 0.8 MB\n     0.8 100.0% 100.0%      0.8 100.0% row_new\n",
		"Total: 1 objects\n       1 100.0% 100.0%        1 100.0% row_new\n",
	};
	const struct asked *asked[] = { &bytes, NULL, &objects };
	for (size_t i = 0; i < jp_count(should); i++) {
		char *is = text_of(p, asked[i]);
		assert_string_equal(is, should[i]);
		free(is);
	}
	jprof_profile_free(p);
}

static int count_calls(void *context, const void *data, size_t len)
{
	(void)data;
	assert_true(len > 0);
	++*(int *)context;
	return 7;
}

TEST(test_refusals)
{
	struct jprof_profile *p = made_of(rows, jp_count(rows));
	struct jprof_error err = { 0 };
	struct jprof_view *view = view_of(p, NULL);
	int calls = 0;
	assert_int_equal(jprof_render(view, "no such", NULL, count_calls, &calls, &err), JPROF_E_ARGUMENT);
	assert_contains(err.text, "no such");
	assert_int_equal(calls, 0);
	assert_int_equal(jprof_render(view, "text", NULL, count_calls, &calls, &err), JPROF_E_WRITE);
	assert_int_equal(err.code, JPROF_E_WRITE);
	assert_is_message(err.text);
	assert_int_equal(calls, 1);
	jprof_view_free(view);
	jprof_profile_free(p);
}
