/* How old the memory of rows is. */
#include "epochdump.h"
#include "shortmem.h"

enum { most_lives = 40 };

/* A process: when it began and its dump was made, in seconds, its first epoch, the forks before it, and the lines of
 * its epochs. */
struct record {
	unsigned pid, began, time, first, forks;
	const char *epochs;
	struct epoch_part lives[most_lives];
};

static struct jprof_profile *profile_of_record(const struct record *r, const char *thread)
{
	char lines[1024], *start = lines;
	*lines = '\0';
	if (r->first)
		start += snprintf(lines, sizeof lines, "start %u.000 %u %u\n", r->began, r->first, r->forks);
	snprintf(start, (size_t)(lines + sizeof lines - start), "bounds 1 2\n%s", r->epochs);
	return profile_of_epochs(r->lives, r->pid, r->time, lines, thread);
}

static void name_all(struct jprof_profile *p)
{
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
}

/* The row of a site, with its flat value in samples; it must be there. */
static const struct jprof_row *row_of(const struct jprof_view *view, unsigned site)
{
	static struct jprof_row row;
	struct jprof_table *table;
	char name[32];
	snprintf(name, sizeof name, "subject+0x%x", 0x1000 + 0x100 * site);
	assert_int_equal(jprof_table_new(view, NULL, &table, NULL), 0);
	row.name = NULL;
	for (size_t i = 0; i < jprof_table_count(table); i++)
		if (!strcmp(jprof_table_at(table, i)->name, name))
			row = *jprof_table_at(table, i);
	jprof_table_free(table);
	if (!row.name)
		fail_msg("no row %s", name);
	return &row;
}

/* In samples, but for a thousandth. */
static void check_parts(const struct jprof_row *row, double hour, double older, double startup, double fork)
{
	static const double worth = 1048608; /* bytes that one sampled object of 64 stands for */
	const double is[] = { row->last_hour, row->older, row->startup, row->before_fork },
		     should[] = { hour, older, startup, fork };
	for (size_t i = 0; i < jp_count(is); i++)
		if (fabs(is[i] / worth - should[i]) > 0.001 * should[i] + 0.001)
			fail_msg("part %zu of %s: %.3f, not %.3f", i, row->name, is[i] / worth, should[i]);
}

static struct jprof_view *aged(const struct jprof_profile *p, uint64_t older, uint64_t newer)
{
	const struct jprof_view_opts opts = {
		.size = sizeof opts, .ages = JPROF_AGES_FLAT, .older = older * 1000, .newer = newer * 1000
	};
	struct jprof_view *view = NULL;
	struct jprof_error err = { 0 };
	if (jprof_view_new(p, &opts, &view, &err))
		fail_msg("%s", err.text);
	return view;
}

/* A life of 10 hours: the startup, and pieces of the time until the dump. */
#define TEN_HOURS                                                                                                      \
	"e 1 1000.000 1060.000\ne 2 1060.000 10000.000\ne 3 10000.000 19000.000\ne 4 19000.000 28000.000\n"            \
	"e 5 28000.000 34000.000\ne 6 34000.000 35200.000\ne 7 35200.000 -\n"

static const struct record alone = { 17,
	                             1000,
	                             37000,
	                             1,
	                             0,
	                             TEN_HOURS,
	                             { { 1, 0, 2 },
	                               { 1, 1, 40 },
	                               { 2, 2, 30 },
	                               { 2, 3, 30 },
	                               { 2, 4, 30 },
	                               { 2, 5, 20 },
	                               { 2, 6, 4 },
	                               { 2, 7, 6 },
	                               { 3, 7, 50 },
	                               { 4, 3, 9 },
	                               { 5, 2, 60 },
	                               { 5, 3, 50 } } };

TEST(test_parts_and_shapes)
{
	struct jprof_profile *p = profile_of_record(&alone, NULL);
	name_all(p);
	struct jprof_view *view = aged(p, 0, 0);
	assert_false(jprof_view_info(view)->forked);
	static const struct {
		unsigned site;
		double hour, older, startup;
		enum jprof_shape shape;
		double samples;
	} rows[] = { { 1, 0, 0, 42, JPROF_SHAPE_STARTUP, 42 },
		     { 2, 10, 110, 0, JPROF_SHAPE_GROWING, 120 },
		     { 3, 50, 0, 0, JPROF_SHAPE_TURNOVER, 50 },
		     { 4, 0, 9, 0, JPROF_SHAPE_FEW, 9 },
		     { 5, 0, 110, 0, JPROF_SHAPE_LEVELLED_OFF, 110 } };
	for (size_t i = 0; i < jp_count(rows); i++) {
		const struct jprof_row *row = row_of(view, rows[i].site);
		check_parts(row, rows[i].hour, rows[i].older, rows[i].startup, 0);
		if (row->shape != rows[i].shape)
			fail_msg("site %u: shape %d", rows[i].site, (int)row->shape);
		assert_near(row->shape_samples, rows[i].samples);
	}
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* The filters move to the nearest border: an hour ago is 33400, in epoch 5 (28000 to 34000), whose end is nearer.
 * Totals stay those of all. */
TEST(test_filters)
{
	struct jprof_profile *p = profile_of_record(&alone, NULL);
	name_all(p);
	struct jprof_view *older = aged(p, 3600, 0), *newer = aged(p, 0, 3600), *exact = aged(p, 1800, 27000);
	assert_int_equal(jprof_view_info(older)->older, 3000000);
	assert_int_equal(jprof_view_info(newer)->newer, 3000000);
	assert_int_equal(jprof_view_info(exact)->older, 1800000);
	assert_int_equal(jprof_view_info(exact)->newer, 27000000);
	check_parts(row_of(older, 2), 0, 110, 0, 0);
	check_parts(row_of(older, 1), 0, 0, 42, 0);
	check_parts(row_of(newer, 2), 10, 0, 0, 0);
	check_parts(row_of(newer, 3), 50, 0, 0, 0);
	check_parts(row_of(exact, 2), 4, 80, 0, 0);
	assert_int_equal(row_of(older, 2)->shape, JPROF_SHAPE_NONE);
	assert_int_equal(jprof_view_info(newer)->rows, 2);
	assert_near(jprof_view_info(older)->total, jprof_view_info(newer)->total);
	assert_near(jprof_view_info(older)->flat + jprof_view_info(newer)->flat, jprof_view_info(older)->total);
	jprof_view_free(older);
	jprof_view_free(newer);
	jprof_view_free(exact);
	jprof_profile_free(p);
}

/* What a worker has from its master is from before the fork, also in the sum of both; its first epoch is its startup.
 */
TEST(test_fork)
{
	static const struct record master = { 20, 1000, 37000, 1, 0, TEN_HOURS, { { 1, 1, 40 }, { 2, 7, 5 } } };
	static const struct record worker = { 21,
		                              12000,
		                              37000,
		                              4,
		                              1,
		                              "e 1 1000.000 1060.000\ne 3 10000.000 12000.000\n"
		                              "e 4 12000.000 12060.000\ne 5 12060.000 30000.000\n",
		                              { { 1, 0, 1 }, { 1, 1, 40 }, { 1, 3, 8 }, { 1, 4, 3 }, { 1, 5, 7 } } };
	struct jprof_profile *p = profile_of_record(&worker, NULL), *q = profile_of_record(&master, NULL);
	struct jprof_profile *sum = profile_of_record(&master, NULL);
	assert_int_equal(jprof_profile_add(sum, p, NULL), 0);
	name_all(p);
	name_all(q);
	name_all(sum);
	struct jprof_view *view = aged(p, 0, 0), *whole = aged(sum, 0, 0), *first = aged(q, 0, 0);
	assert_true(jprof_view_info(view)->forked && jprof_view_info(whole)->forked);
	assert_false(jprof_view_info(first)->forked);
	check_parts(row_of(view, 1), 0, 7, 3, 49);
	check_parts(row_of(first, 1), 0, 0, 40, 0);
	check_parts(row_of(whole, 1), 0, 7, 3, 89);
	check_parts(row_of(whole, 2), 5, 0, 0, 0);
	jprof_view_free(view);
	jprof_view_free(whole);
	jprof_view_free(first);
	jprof_profile_free(p);
	jprof_profile_free(q);
	jprof_profile_free(sum);
}

/* An older agent does not say when the process began. */
TEST(test_older_agent)
{
	static const struct record old = { 17, 0, 37000, 0, 0, TEN_HOURS, { { 1, 1, 40 }, { 1, 2, 5 }, { 1, 7, 3 } } };
	struct jprof_profile *p = profile_of_record(&old, NULL);
	name_all(p);
	struct jprof_view *view = aged(p, 0, 0);
	check_parts(row_of(view, 1), 3, 5, 40, 0);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* A thread has the ages of its own stacks; of a difference there are ages, and no shape. */
TEST(test_threads_and_differences)
{
	struct jprof_profile *p = profile_of_record(&alone, "*"), *q = profile_of_record(&alone, NULL),
			     *nothing = profile_of_record(
				 &(struct record){ 17, 1000, 30000, 1, 0, TEN_HOURS, { { 2, 2, 30 } } }, NULL);
	struct jprof_view *part;
	assert_int_equal(jprof_profile_difference(q, nothing, NULL), 0);
	name_all(p);
	name_all(q);
	struct jprof_view *view = aged(p, 0, 0), *change = aged(q, 0, 0);
	assert_int_equal(jprof_view_thread(view, 0, &part, NULL), 0);
	check_parts(row_of(part, 2), 10, 110, 0, 0);
	assert_int_equal(row_of(part, 2)->shape, JPROF_SHAPE_GROWING);
	check_parts(row_of(change, 2), 10, 80, 0, 0);
	assert_int_equal(row_of(change, 2)->shape, JPROF_SHAPE_NONE);
	jprof_view_free(part);
	jprof_view_free(view);
	jprof_view_free(change);
	jprof_profile_free(p);
	jprof_profile_free(q);
	jprof_profile_free(nothing);
}

TEST(test_refused)
{
	const struct jprof_view_opts asked[] = { { .size = sizeof *asked, .ages = JPROF_AGES_CUM },
		                                 { .size = sizeof *asked, .older = 1 },
		                                 { .size = sizeof *asked, .newer = 1 } };
	struct jprof_profile *p =
	    profile_of("heap_v2/1\n  t*: 1: 64 [0: 0]\n@ 0x401000\n  t*: 1: 64 [0: 0]\n\n"
	               "MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 7 /bin/subject\n");
	name_all(p);
	for (size_t i = 0; i < jp_count(asked); i++) {
		struct jprof_view *view = NULL;
		struct jprof_error err = { 0 };
		assert_int_equal(jprof_view_new(p, &asked[i], &view, &err), JPROF_E_ARGUMENT);
		assert_int_equal(err.advice, JPROF_ADVICE_AGES);
		assert_null(view);
	}
	jprof_profile_free(p);
}

/* Times that no agent writes: before 1970 is not reached, nor a number divided by nothing. */
TEST(test_strange_times)
{
	static const char *const epochs[] = { "", "e 1 0.000 0.000\n", "e 2 99999999999.000 99999999999.000\n",
		                              "e 1 5.000 -\ne 2 4.000 4.000\ne 3 1.000 18446744073.000\n" };
	for (size_t i = 0; i < jp_count(epochs); i++)
		for (unsigned time = 0; time < 3; time++) {
			const struct record r = { 17,
				                  2 * time,
				                  time,
				                  1 + time,
				                  time,
				                  epochs[i],
				                  { { 1, 1, 20 }, { 1, 2, 20 }, { 2, 3, 20 } } };
			struct jprof_profile *p = profile_of_record(&r, NULL);
			const struct jprof_view_opts opts = {
				.size = sizeof opts, .ages = JPROF_AGES_CUM, .older = time, .newer = 3 * time
			};
			struct jprof_view *view = NULL;
			name_all(p);
			if (!jprof_view_new(p, &opts, &view, NULL))
				assert_true(jprof_view_info(view)->flat <= jprof_view_info(view)->total);
			jprof_view_free(view);
			jprof_profile_free(p);
		}
}

/* Where memory is short there is no view, and later it is what it was. */
TEST(test_short_memory)
{
	struct jprof_profile *p = profile_of_record(&alone, NULL);
	name_all(p);
	const struct jprof_view_opts opts = { .size = sizeof opts, .ages = JPROF_AGES_FLAT, .older = 1 };
	size_t failed = 0;
	for (int rc = -1; rc; failed++) {
		struct jprof_view *view = NULL;
		shortmem_arm(failed + 1);
		rc = jprof_view_new(p, &opts, &view, NULL);
		shortmem_disarm();
		assert_int_equal(rc, rc ? JPROF_E_NOMEM : 0);
		if (!rc)
			check_parts(row_of(view, 2), 10, 110, 0, 0);
		jprof_view_free(view);
	}
	assert_true(failed > 10);
	jprof_profile_free(p);
}

/* The columns of a report, which name the last hour only where something may be older than that. */
TEST(test_columns_of_a_short_life)
{
	static const struct record brief = { 17,
		                             1000,
		                             1021,
		                             1,
		                             0,
		                             "e 1 1000.000 1002.000\ne 2 1002.000 1012.000\ne 3 1012.000 -\n",
		                             { { 1, 1, 40 }, { 2, 2, 30 }, { 2, 3, 30 } } };
	const struct {
		const struct record *of;
		bool hour;
	} lives[] = { { &brief, false }, { &alone, true } };
	for (size_t i = 0; i < jp_count(lives); i++) {
		struct jprof_profile *p = profile_of_record(lives[i].of, NULL);
		name_all(p);
		char *text = text_of(p, &(const struct asked){ .view.ages = JPROF_AGES_FLAT });
		assert_int_equal(strstr(text, " last hour ") != NULL, lives[i].hour);
		assert_int_equal(strstr(text, " older ") != NULL, lives[i].hour);
		assert_int_equal(strstr(text, " later ") != NULL, !lives[i].hour);
		assert_non_null(strstr(text, " startup "));
		free(text);
		jprof_profile_free(p);
	}
}
