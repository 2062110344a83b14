/* Intervals against dumps of real programs whose truth is known (samples/cases/README.md), and what
 * the other fields of a range say. */

#include "testing.h"

#include "jprof.h"

static struct jprof_profile *profile_of(const char *name)
{
	char path[4096];
	struct jprof_dump *dump;
	struct jprof_profile *profile;
	snprintf(path, sizeof path, "%s/samples/%s", SOURCE_ROOT, name);
	assert_int_equal(jprof_dump_open(path, &dump, NULL), 0);
	assert_int_equal(jprof_profile_new(dump, NULL, &profile, NULL), 0);
	jprof_dump_free(dump);
	return profile;
}

static struct jprof_profile *growth(const char *early, const char *late)
{
	struct jprof_profile *profile = profile_of(late), *base = profile_of(early);
	assert_int_equal(jprof_profile_difference(profile, base, NULL), 0);
	jprof_profile_free(base);
	return profile;
}

/* A view with errors. */
static struct jprof_view *errors_of(struct jprof_profile *profile, enum jprof_counter counter)
{
	struct jprof_view *view;
	struct jprof_view_opts opts = { .size = sizeof opts, .counter = counter, .errors = true };
	struct jprof_symbolize_opts symbolize = { .size = sizeof symbolize,
		                                  .sysroot = SOURCE_ROOT "/samples/cases/sysroot" };
	assert_int_equal(jprof_profile_symbolize(profile, &symbolize, NULL), 0);
	assert_int_equal(jprof_view_new(profile, &opts, &view, NULL), 0);
	return view;
}

static struct jprof_row row_named(const struct jprof_view *view, const char *name)
{
	struct jprof_table *table;
	struct jprof_row row = { 0 };
	assert_int_equal(jprof_table_new(view, NULL, &table, NULL), 0);
	for (size_t i = 0; i < jprof_table_count(table); i++)
		if (!strcmp(jprof_table_at(table, i)->name, name))
			row = *jprof_table_at(table, i);
	jprof_table_free(table);
	if (!row.name)
		fail_msg("no row %s", name);
	return row;
}

static void assert_holds(const struct jprof_range *r, double truth)
{
	if (r->low > truth || truth > r->high)
		fail_msg("%.0f is not in [%.0f, %.0f]", truth, r->low, r->high);
}

/* The growth of each row is known; the interval holds it and is no wider than five standard errors of the
 * samples that are new. */
TEST(test_growth)
{
	static const struct {
		const char *early, *late, *row;
		double truth, width;
	} known[] = {
		{ "cases/ruby31/cext.0.heap", "cases/ruby31/cext.1.heap", "row_new", 20.48e6, 1.4e6 },
		{ "cases/ruby31/fiddle.0.heap", "cases/ruby31/fiddle.1.heap", "fiddle!0x62d0", 51.2e6, 2.2e6 },
		{ "cases/ruby31/string.0.heap", "cases/ruby31/string.1.heap", "rb_str_times", 22.4e6, 1.5e6 },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct jprof_profile *profile = growth(known[i].early, known[i].late);
		struct jprof_view *view = errors_of(profile, JPROF_INUSE_SPACE);
		struct jprof_row row = row_named(view, known[i].row);
		assert_holds(&row.cum_range, known[i].truth);
		assert_true(row.cum_range.high - row.cum_range.low < known[i].width);
		assert_false(row.cum_range.few_samples || row.cum_range.within_error);
		jprof_view_free(view);
		jprof_profile_free(profile);
	}
}

/* A leak of which one sample was there before, and ten after. Half of what both workers leak (2400 times 1 KiB)
 * is in this one's share; that it grew at all is certain. 60 MB did not change, and add nothing. */
TEST(test_leak_in_puma)
{
	struct jprof_profile *profile = growth("cases/puma/w0.2.heap", "cases/puma/w0.3.heap");
	struct jprof_view *view = errors_of(profile, JPROF_INUSE_SPACE);
	struct jprof_row leak = row_named(view, "row_new"), strings = row_named(view, "rb_str_times");
	assert_holds(&leak.flat_range, 1200 * 1024);
	assert_true(leak.flat_range.low > 0 && !leak.flat_range.few_samples && !leak.flat_range.within_error);
	assert_true(leak.flat_range.samples == 11);
	assert_holds(&strings.cum_range, 1200 * 2048);
	assert_true(strstr(jprof_profile_bound(profile, JPROF_INUSE_SPACE), "prof_accum"));
	jprof_view_free(view);
	jprof_profile_free(profile);
}

TEST(test_leak_in_objects)
{
	struct jprof_profile *profile = growth("cases/ruby31/cext.0.heap", "cases/ruby31/cext.1.heap");
	struct jprof_view *view = errors_of(profile, JPROF_INUSE_OBJECTS);
	struct jprof_row row = row_named(view, "row_new");
	assert_holds(&row.flat_range, 20000);
	jprof_view_free(view);
	jprof_profile_free(profile);
}

/* Nothing changed: no row, and nothing known but that no more than 3.7 rates can have come unseen. */
TEST(test_same_dump_twice)
{
	struct jprof_profile *profile = growth("cases/puma/w0.3.heap", "cases/puma/w0.3.heap");
	struct jprof_range r;
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &r);
	assert_true(r.error == 0 && r.samples == 0 && r.high < 3.69 * 131072 && r.low == -r.high);
	jprof_profile_free(profile);
}

/* A dump added to itself: errors double like the sum, they do not grow by the root of two. */
TEST(test_sum_of_relatives)
{
	struct jprof_profile *sum = profile_of("cases/puma/w0.3.heap"), *one = profile_of("cases/puma/w0.3.heap");
	struct jprof_range single, both;
	jprof_profile_range(one, JPROF_INUSE_SPACE, &single);
	assert_string_equal(jprof_profile_bound(one, JPROF_INUSE_SPACE), "");
	assert_int_equal(jprof_profile_add(sum, one, NULL), 0);
	jprof_profile_range(sum, JPROF_INUSE_SPACE, &both);
	assert_true(fabs(both.error / single.error - 2) < 1e-6);
	assert_true(fabs((both.high - both.low) / (single.high - single.low) - 2) < 1e-3);
	assert_true(*jprof_profile_bound(sum, JPROF_INUSE_SPACE));
	jprof_profile_free(one);
	jprof_profile_free(sum);
}

static const char one_row[] = "heap_v2/524288\n  t*: 0: 0 [0: 0]\n@ 0x1000 0x2000\n  t*: %s [0: 0]\n";

static struct jprof_range grown_row(const char *before, const char *after)
{
	char text[200];
	struct jprof_dump *dump;
	struct jprof_profile *profile[2];
	const char *counters[] = { before, after };
	struct jprof_range range;
	for (int i = 0; i < 2; i++) {
		int len = snprintf(text, sizeof text, one_row, counters[i]);
		assert_int_equal(jprof_dump_parse(text, (size_t)len, NULL, &dump, NULL), 0);
		assert_int_equal(jprof_profile_new(dump, NULL, &profile[i], NULL), 0);
		jprof_dump_free(dump);
	}
	assert_int_equal(jprof_profile_difference(profile[1], profile[0], NULL), 0);
	jprof_profile_range(profile[1], JPROF_INUSE_SPACE, &range);
	jprof_profile_free(profile[0]);
	jprof_profile_free(profile[1]);
	return range;
}

/* Nine samples of 4 KiB more are a growth that is certain, and how much it is nobody knows; 400 samples against 401
 * are many, and may be no growth at all. */
TEST(test_two_doubts)
{
	struct jprof_range certain = grown_row("0: 0", "9: 36864"), unsure = grown_row("400: 1638400", "401: 1642496"),
			   neither = grown_row("0: 0", "100: 409600"), both = grown_row("0: 0", "1: 4096");
	assert_true(certain.few_samples && !certain.within_error && certain.low > 0);
	assert_true(!unsure.few_samples && unsure.within_error);
	assert_true(!neither.few_samples && !neither.within_error);
	assert_true(both.few_samples && both.within_error);
}

/* The reason for wide errors is the true one: with prof_accum, less that was ever allocated is another process. */
TEST(test_reason)
{
	static const char *const counters[] = { "5: 20480 [90: 368640]", "4: 16384 [10: 40960]" };
	static const char with_accum[] = "heap_v2/524288\n  t*: 0: 0 [0: 0]\n@ 0x1000 0x2000\n  t*: %s\n";
	struct jprof_profile *profile[2];
	for (int i = 0; i < 2; i++) {
		char text[200];
		struct jprof_dump *dump;
		int len = snprintf(text, sizeof text, with_accum, counters[i]);
		assert_int_equal(jprof_dump_parse(text, (size_t)len, NULL, &dump, NULL), 0);
		assert_int_equal(jprof_profile_new(dump, NULL, &profile[i], NULL), 0);
		jprof_dump_free(dump);
	}
	assert_int_equal(jprof_profile_difference(profile[1], profile[0], NULL), 0);
	const char *why = jprof_profile_bound(profile[1], JPROF_INUSE_SPACE);
	assert_null(strstr(why, "prof_accum"));
	assert_non_null(strstr(why, "same processes"));
	jprof_profile_free(profile[0]);
	jprof_profile_free(profile[1]);
}

/* Bytes without objects: nobody knows how they were sampled. */
TEST(test_not_known)
{
	struct jprof_profile *profile = profile_of("heaps/faults/bytes-without-objects.heap");
	struct jprof_range r;
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &r);
	assert_true(isnan(r.error) && isnan(r.low) && isnan(r.high));
	jprof_profile_free(profile);
}

/* The table's ranges are those of the whole where a row holds everything; without asking there are none. */
TEST(test_whole)
{
	struct jprof_profile *profile = profile_of("cases/ruby31/iseq.1.heap");
	struct jprof_view *view = errors_of(profile, JPROF_INUSE_SPACE), *plain;
	struct jprof_row all = row_named(view, "_start");
	struct jprof_range r;
	struct jprof_view_opts opts = { .size = sizeof opts, .counter = JPROF_INUSE_SPACE };
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &r);
	assert_true(all.cum_range.error <= r.error && all.cum_range.error > 0.9 * r.error);
	assert_true(all.flat_range.error == 0 && all.flat_range.samples == 0);
	assert_int_equal(jprof_view_new(profile, &opts, &plain, NULL), 0);
	assert_true(row_named(plain, "_start").cum_range.error == 0 && row_named(plain, "_start").cum_range.high == 0);
	jprof_view_free(plain);
	jprof_view_free(view);
	jprof_profile_free(profile);
}
