/* Differences of dumps whose stacks carry their epochs: which samples count as new and gone. */
#include "epochdump.h"
#include "shortmem.h"

enum { most_parts = 8 };

/* One dump: who made it and when, up to which epoch all were over, and by how many seconds the epochs from `own` on
 * began later than those of other processes. */
struct moment {
	unsigned pid, time, before, own, delay;
	struct epoch_part parts[most_parts];
};

static unsigned begin_of(const struct moment *m, unsigned epoch)
{
	return 100 * epoch + (m->own && epoch >= m->own ? m->delay : 0);
}

static struct jprof_profile *profile_of_moment(const struct moment *m)
{
	char lines[1024], *end = lines + snprintf(lines, sizeof lines, "bounds %u %u\n", m->before, m->before + 2);
	for (unsigned e = 1; e <= 9; e++)
		end += snprintf(end, (size_t)(lines + sizeof lines - end), "e %u %u.000 %u.999\n", e, begin_of(m, e),
		                begin_of(m, e) + 99);
	return profile_of_epochs(m->parts, m->pid, m->time, lines, NULL);
}

static struct jprof_profile *sum_of(const struct moment *moments, size_t count)
{
	struct jprof_profile *sum = profile_of_moment(moments);
	for (size_t i = 1; i < count; i++) {
		struct jprof_profile *p = profile_of_moment(&moments[i]);
		assert_int_equal(jprof_profile_add(sum, p, NULL), 0);
		jprof_profile_free(p);
	}
	return sum;
}

/* How many samples a difference rests on, and whether its errors are bounds. */
static void check_sums(const struct moment *late, size_t late_count, const struct moment *early, size_t early_count,
                       double samples, bool is_bound)
{
	struct jprof_profile *p = sum_of(late, late_count), *q = sum_of(early, early_count);
	struct jprof_range range;
	double change = jprof_profile_total(p, JPROF_INUSE_SPACE) - jprof_profile_total(q, JPROF_INUSE_SPACE);
	assert_int_equal(jprof_profile_difference(p, q, NULL), 0);
	jprof_profile_range(p, JPROF_INUSE_SPACE, &range);
	assert_near(range.samples, samples);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), change);
	assert_int_equal(strstr(jprof_profile_bound(p, JPROF_INUSE_SPACE), "what changed") != NULL, is_bound);
	jprof_profile_free(p);
	jprof_profile_free(q);
}

static void check_samples(const struct moment *late, const struct moment *early, double samples, bool is_bound)
{
	check_sums(late, 1, early, 1, samples, is_bound);
}

static const struct moment early = { 17, 300, 2, 0, 0, { { 1, 0, 7 }, { 1, 1, 100 }, { 1, 2, 50 }, { 2, 2, 9 } } };

/* 5 of the closed epochs are gone, and 9 of another stack; what came later is new. */
TEST(test_closed_epochs)
{
	const struct moment late = { 17, 500, 4, 0, 0, { { 1, 0, 7 }, { 1, 1, 95 }, { 1, 2, 50 }, { 1, 4, 20 } } };
	check_samples(&late, &early, 5 + 9 + 20, false);
	check_samples(&early, &early, 0, false);
}

/* What was running when the dump was made, or begins like another process's, may have come and gone. */
TEST(test_open_epochs)
{
	const struct moment then = { 17, 300, 1, 0, 0, { { 1, 1, 100 }, { 1, 2, 50 } } };
	const struct moment late = { 17, 500, 4, 0, 0, { { 1, 1, 95 }, { 1, 2, 48 }, { 1, 4, 20 } } };
	const struct moment child = { 18, 500, 4, 4, 3, { { 1, 0, 7 }, { 1, 1, 95 }, { 1, 2, 50 }, { 1, 4, 20 } } };
	const struct moment more = { 17, 500, 4, 0, 0, { { 1, 0, 7 }, { 1, 1, 101 }, { 1, 2, 50 }, { 2, 2, 9 } } };
	check_samples(&late, &then, 5 + (50 + 48) + 20, true);
	check_samples(&child, &early, (100 + 95) + 9 + 20, true);
	check_samples(&more, &early, 100 + 101, true); /* it cannot be: then nothing is known */
	check_samples(&then, &late, (100 + 95) + (50 + 48) + 20, true);
}

/* Children of one process: each knows what is its own, and all that they share is in each. */
TEST(test_workers)
{
	const struct moment before[] = { { 21, 300, 3, 2, 10, { { 1, 1, 100 }, { 1, 2, 30 } } },
		                         { 22, 300, 3, 2, 20, { { 1, 1, 100 }, { 1, 2, 40 } } } };
	const struct moment after[] = { { 21, 700, 6, 2, 10, { { 1, 1, 98 }, { 1, 2, 25 }, { 1, 5, 10 } } },
		                        { 22, 700, 6, 2, 20, { { 1, 1, 100 }, { 1, 2, 40 } } },
		                        { 23, 700, 6, 5, 30, { { 1, 1, 100 }, { 1, 6, 3 } } } };
	check_sums(after, 2, before, 2, 2 + 5 + 10, false);
	check_sums(after, 1, before, 2, 102 + 5 + 40 + 10, false); /* 22 ended */
	const struct moment replaced[] = { after[0], after[2] };
	check_sums(replaced, 2, before, 2, (200 + 198) + 5 + 40 + 10 + 3, true);
}

/* Two dumps of one process in a sum: nothing is taken for exact. */
TEST(test_twice)
{
	const struct moment late = { 17, 500, 4, 0, 0, { { 1, 1, 95 } } };
	const struct moment twice[] = { early, early };
	check_sums(&late, 1, twice, 2, 14 + (200 + 95) + 100 + 18, true);
}

/* The rows of a view do not know epochs: of a stack of which 50 went and 60 came 10 are left. */
TEST(test_views_merge_epochs)
{
	const struct moment then = { 17, 300, 2, 0, 0, { { 1, 1, 100 } } };
	const struct moment late = { 17, 500, 4, 0, 0, { { 1, 1, 50 }, { 1, 4, 60 } } };
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	struct jprof_view_opts opts = { .size = sizeof opts, .drop_negative = true, .errors = true };
	struct jprof_profile *p = profile_of_moment(&late), *q = profile_of_moment(&then);
	struct jprof_view *view;
	assert_int_equal(jprof_profile_difference(p, q, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	assert_int_equal(jprof_view_new(p, &opts, &view, NULL), 0);
	assert_near(jprof_view_info(view)->total, jprof_profile_total(p, JPROF_INUSE_SPACE));
	assert_true(jprof_view_info(view)->total > 0);
	assert_near(jprof_view_info(view)->range.samples, 110);
	jprof_view_free(view);
	jprof_profile_free(p);
	jprof_profile_free(q);
}

/* Where memory is short a difference changes nothing: done again it is exact. */
TEST(test_short_memory)
{
	const struct moment late = { 17, 500, 4, 0, 0, { { 1, 0, 7 }, { 1, 1, 95 }, { 1, 2, 50 }, { 1, 4, 20 } } };
	struct jprof_profile *q = profile_of_moment(&early);
	struct jprof_range range;
	size_t calls = 1;
	for (size_t nth = 1; nth <= calls; nth++) {
		struct jprof_profile *p = profile_of_moment(&late);
		shortmem_arm(nth);
		int rc = jprof_profile_difference(p, q, NULL);
		shortmem_disarm();
		if (rc)
			assert_int_equal(jprof_profile_difference(p, q, NULL), 0);
		calls = rc ? nth + 1 : nth - 1;
		jprof_profile_range(p, JPROF_INUSE_SPACE, &range);
		assert_near(range.samples, 5 + 9 + 20);
		jprof_profile_free(p);
	}
	assert_true(calls > 10);
	jprof_profile_free(q);
}
