/* Verdicts of courses that were written by hand, the words of each, and the chances behind them, which are compared
 * with tables of the normal distribution. */
#include "answers/verdict.h"
#include "harness.h"

/* A change by so many samples of a unit each that came and went; the interval is the normal one. */
static struct jprof_change change(double came, double went)
{
	double error = sqrt(came + went), growth = came - went;
	struct jprof_range range = { .error = error,
		                     .low = growth - 1.96 * error,
		                     .high = growth + 1.96 * error,
		                     .samples = came + went,
		                     .few_samples = came + went < 10,
		                     .within_error = fabs(growth) <= 1.96 * error };
	return (struct jprof_change){ growth, range, NAN };
}

/* The verdict on steps of so many samples that came and went. */
static enum jprof_verdict judge_with_gc(const double (*steps)[2], size_t count, bool uncollected, const bool *collected)
{
	struct jprof_change list[8];
	double came = 0, went = 0;
	for (size_t i = 0; i < count; i++) {
		list[i] = change(steps[i][0], steps[i][1]);
		came += steps[i][0];
		went += steps[i][1];
	}
	struct jp_course course = { .steps = list,
		                    .count = count,
		                    .whole = change(came, went),
		                    .first = 1000,
		                    .uncollected = uncollected,
		                    .collected = collected,
		                    .threshold = 3.29 };
	return jp_verdict_of(&course);
}

static enum jprof_verdict judge(const double (*steps)[2], size_t count, bool uncollected)
{
	return judge_with_gc(steps, count, uncollected, NULL);
}

#define JUDGE(...) judge((const double[][2]){ __VA_ARGS__ }, sizeof((const double[][2]){ __VA_ARGS__ }) / 16, false)

/* What grew from one collection to the next is no garbage, whatever the snapshots without one show. */
TEST(test_some_collected)
{
	static const bool last_not[] = { true, true, false }, first_not[] = { false, true, true },
			  middle_not[] = { true, false, true }, four[] = { true, true, true, false };
	static const double steady[][2] = { { 100, 0 }, { 100, 0 } }, late[][2] = { { 2, 2 }, { 100, 0 } },
			    three[][2] = { { 100, 0 }, { 100, 0 }, { 100, 0 } };
	assert_int_equal(judge_with_gc(steady, 2, true, last_not), JPROF_GROWING);
	assert_int_equal(judge_with_gc(late, 2, true, last_not), JPROF_MAYBE_GARBAGE);
	assert_int_equal(judge_with_gc(steady, 2, true, first_not), JPROF_GROWING);
	assert_int_equal(judge_with_gc(steady, 2, true, middle_not), JPROF_MAYBE_GARBAGE);
	assert_int_equal(judge_with_gc(three, 3, true, four), JPROF_LEAK_SUSPECT);
}

TEST(test_courses)
{
	assert_int_equal(JUDGE({ 100, 0 }), JPROF_GROWING);
	assert_int_equal(JUDGE({ 100, 0 }, { 100, 0 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE({ 100, 20 }, { 110, 30 }, { 90, 20 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE({ 100, 0 }, { 0, 0 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 100, 0 }, { 12, 10 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 300, 0 }, { 100, 0 }), JPROF_GROWING);
	assert_int_equal(JUDGE({ 0, 0 }, { 100, 0 }), JPROF_GROWING);
	assert_int_equal(JUDGE({ 50, 0 }, { 150, 0 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE({ 1, 0 }, { 100, 0 }, { 1, 0 }), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE({ 200, 0 }, { 0, 100 }), JPROF_UP_AND_DOWN);
	assert_int_equal(JUDGE({ 100, 0 }, { 0, 100 }), JPROF_UP_AND_DOWN);
	/* One dip hides no leak: falls count where they are a quarter of the growth. */
	assert_int_equal(JUDGE({ 400, 0 }, { 0, 40 }, { 440, 0 }, { 400, 0 }, { 400, 0 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE({ 500, 0 }, { 0, 60 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 500, 0 }, { 0, 100 }, { 60, 0 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 500, 0 }, { 0, 100 }, { 0, 10 }), JPROF_UP_AND_DOWN);
	assert_int_equal(JUDGE({ 500, 0 }, { 0, 60 }, { 120, 0 }, { 0, 80 }), JPROF_UP_AND_DOWN);
	assert_int_equal(JUDGE({ 0, 100 }), JPROF_SHRANK);
	assert_int_equal(JUDGE({ 0, 100 }, { 0, 50 }), JPROF_SHRANK);
	assert_int_equal(JUDGE({ 0, 0 }), JPROF_WITHIN_ERROR);
	assert_int_equal(JUDGE({ 100, 90 }), JPROF_WITHIN_ERROR);
	assert_int_equal(JUDGE({ 60, 30 }), JPROF_TOO_EARLY);
	assert_int_equal(JUDGE({ 9, 0 }), JPROF_FEW_SAMPLES);
	assert_int_equal(JUDGE({ 5, 0 }, { 4, 0 }), JPROF_FEW_SAMPLES);
	assert_int_equal(JUDGE({ 5, 0 }, { 5, 0 }), JPROF_LEAK_SUSPECT);
	/* All steps after the rise are judged together: no last step alone, and none that grew by chance. */
	assert_int_equal(JUDGE({ 200, 0 }, { 52, 50 }, { 51, 50 }, { 70, 50 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 200, 0 }, { 55, 50 }, { 55, 50 }, { 60, 50 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 100, 60 }, { 110, 60 }, { 62, 60 }, { 100, 60 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE({ 100, 0 }, { 100, 0 }, { 52, 50 }, { 50, 50 }, { 51, 50 }), JPROF_LEVELLED_OFF);
	assert_int_equal(JUDGE({ 120, 60 }, { 80, 60 }), JPROF_TOO_EARLY);
}

/* Objects so large that each is sampled for sure: their growth is certain from the first on. */
static struct jprof_change sure_change(double came, double went)
{
	static const double each = 100 << 20;
	struct jprof_change c = change(came, went);
	c.growth *= each;
	c.range = (struct jprof_range){ .low = c.growth, .high = c.growth, .samples = came + went };
	return c;
}

static enum jprof_verdict judge_sure(const double (*steps)[2], size_t count)
{
	struct jprof_change list[8];
	double came = 0, went = 0;
	for (size_t i = 0; i < count; i++) {
		list[i] = sure_change(steps[i][0], steps[i][1]);
		came += steps[i][0];
		went += steps[i][1];
	}
	struct jp_course course = {
		.steps = list, .count = count, .whole = sure_change(came, went), .threshold = 3.29
	};
	return jp_verdict_of(&course);
}

#define JUDGE_SURE(...) judge_sure((const double[][2]){ __VA_ARGS__ }, sizeof((const double[][2]){ __VA_ARGS__ }) / 16)

/* One buffer is one jump, few are no trend, ten are one. */
TEST(test_few_large_objects)
{
	assert_int_equal(JUDGE_SURE({ 1, 0 }), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_SURE({ 0, 0 }, { 1, 0 }), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_SURE({ 1, 0 }, { 0, 0 }), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_SURE({ 0, 0 }, { 1, 0 }, { 0, 0 }), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_SURE({ 1, 0 }, { 1, 0 }), JPROF_GROWING);
	assert_int_equal(JUDGE_SURE({ 2, 1 }, { 2, 1 }, { 2, 1 }), JPROF_GROWING);
	assert_int_equal(JUDGE_SURE({ 5, 0 }, { 5, 0 }), JPROF_LEAK_SUSPECT);
	assert_int_equal(JUDGE_SURE({ 0, 1 }), JPROF_SHRANK);
}

/* A String that grows by as much in each step: its buffer doubles now and then, and moves. At each snapshot it is one
 * object of so many units. */
static enum jprof_verdict judge_buffer(const double *sizes, size_t snapshots, unsigned small)
{
	const double rate = 1 << 17;
	struct jprof_change list[16];
	for (size_t i = 0; i + 1 < snapshots; i++) {
		list[i] = sure_change(sizes[i + 1] - sizes[i], 0);
		list[i].range.samples = (sizes[i + 1] > sizes[i] ? 2 : 0) + small;
		list[i].range.error = sqrt(small) * rate;
		list[i].seconds = 60;
	}
	struct jp_course course = {
		.steps = list, .count = snapshots - 1, .first = sizes[0], .threshold = 3.29, .rate = rate
	};
	course.whole = sure_change(sizes[snapshots - 1] - sizes[0], 0);
	course.whole.range.samples = 2 + 2 * small;
	course.whole.range.error = sqrt(2 * small) * rate;
	return jp_verdict_of(&course);
}

#define JUDGE_BUFFER(...) judge_buffer((const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / 8, 0)
#define JUDGE_MIXED(...) judge_buffer((const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / 8, 2)

/* It is said to have stopped only where it stands still for longer than the next doubling would take. */
TEST(test_doubling_buffer)
{
	assert_int_equal(JUDGE_BUFFER(6, 12, 12), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_BUFFER(6, 6, 12), JPROF_GROWING);
	assert_int_equal(JUDGE_BUFFER(6, 12, 12, 12, 12), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_BUFFER(6, 12, 24), JPROF_GROWING);
	assert_int_equal(JUDGE_BUFFER(6, 12, 12, 24, 24, 24), JPROF_GROWING);
	assert_int_equal(JUDGE_BUFFER(6, 12, 12, 24, 24, 24, 24, 24, 24), JPROF_GROWING);
	assert_int_equal(JUDGE_BUFFER(6, 12, 12, 24, 24, 24, 24, 24, 24, 24, 24), JPROF_LEVELLED_OFF);
	/* Small objects of the same line come and go beside it. */
	assert_int_equal(JUDGE_MIXED(6, 24, 24), JPROF_ONE_JUMP);
	assert_int_equal(JUDGE_MIXED(6, 12, 12, 24, 24, 24), JPROF_GROWING);
}

/* What has as many samples of small objects is no buffer, nor is one of which most are small. */
TEST(test_no_buffer)
{
	struct jprof_change whole = sure_change(1, 0);
	struct jp_course course = { .whole = whole, .count = 1, .rate = 1 << 17 };
	assert_true(jp_is_one_buffer(&course));
	course.whole.range.samples = 8;
	assert_false(jp_is_one_buffer(&course));
	course.whole.range.error = sqrt(6) * course.rate;
	assert_true(jp_is_one_buffer(&course));
	course.whole.growth = 20 * course.rate;
	assert_false(jp_is_one_buffer(&course));
}

TEST(test_garbage)
{
	const double grew[][2] = { { 100, 0 }, { 100, 0 } }, flat[][2] = { { 100, 0 }, { 0, 0 } };
	assert_int_equal(judge(grew, 2, true), JPROF_MAYBE_GARBAGE);
	assert_int_equal(judge(flat, 2, true), JPROF_LEVELLED_OFF);
}

/* The verdict on a row whose samples have ages: so many came and went since the first of two snapshots. */
static enum jprof_verdict judge_aged(double came, double went, enum jprof_shape shape, enum jprof_shape since,
                                     double kept)
{
	const struct jprof_change one = change(came, went);
	struct jp_course course = { .steps = &one, .count = 1, .whole = one, .first = 1000, .threshold = 3.29 };
	course.shape = shape;
	course.shape_since = since;
	course.kept = kept;
	return jp_verdict_of(&course);
}

TEST(test_ages_of_courses)
{
	const enum jprof_shape growing = JPROF_SHAPE_GROWING, turnover = JPROF_SHAPE_TURNOVER,
			       unknown = JPROF_SHAPE_UNKNOWN, few = JPROF_SHAPE_FEW, none = JPROF_SHAPE_NONE,
			       full = JPROF_SHAPE_LEVELLED_OFF, jump = JPROF_SHAPE_ONE_JUMP,
			       startup = JPROF_SHAPE_STARTUP;
	assert_int_equal(judge_aged(100, 0, none, none, NAN), JPROF_GROWING);
	assert_int_equal(judge_aged(100, 0, growing, growing, 1), JPROF_LEAK_SUSPECT);
	assert_int_equal(judge_aged(100, 0, growing, unknown, 1), JPROF_LEAK_SUSPECT);
	assert_int_equal(judge_aged(100, 0, growing, few, NAN), JPROF_LEAK_SUSPECT);
	assert_int_equal(judge_aged(100, 0, unknown, growing, NAN), JPROF_LEAK_SUSPECT);
	assert_int_equal(judge_aged(100, 0, unknown, unknown, 1), JPROF_GROWING);
	/* A leak beside much from the startup, and one that began a short time ago. */
	assert_int_equal(judge_aged(100, 0, startup, growing, 1), JPROF_LEAK_SUSPECT);
	assert_int_equal(judge_aged(100, 0, startup, unknown, 1), JPROF_GROWING);
	assert_int_equal(judge_aged(100, 0, turnover, turnover, 1), JPROF_GROWING);
	assert_int_equal(judge_aged(100, 0, turnover, turnover, NAN), JPROF_GROWING);
	assert_int_equal(judge_aged(100, 0, turnover, growing, NAN), JPROF_LEAK_SUSPECT);
	/* Old ones go. */
	assert_int_equal(judge_aged(100, 30, turnover, turnover, 0.1), JPROF_TURNOVER);
	assert_int_equal(judge_aged(100, 30, growing, growing, 0.1), JPROF_TURNOVER);
	/* A bound is in sight. */
	assert_int_equal(judge_aged(100, 0, growing, full, 1), JPROF_LEVELLED_OFF);
	assert_int_equal(judge_aged(100, 0, full, unknown, 1), JPROF_LEVELLED_OFF);
	assert_int_equal(judge_aged(100, 0, jump, jump, NAN), JPROF_ONE_JUMP);
	/* Nothing grew, or nobody can tell. */
	assert_int_equal(judge_aged(0, 0, startup, few, 1), JPROF_FROM_STARTUP);
	assert_int_equal(judge_aged(100, 90, turnover, turnover, 0), JPROF_TURNOVER);
	assert_int_equal(judge_aged(0, 0, full, few, 1), JPROF_LEVELLED_OFF);
	assert_int_equal(judge_aged(60, 30, turnover, turnover, 0), JPROF_TURNOVER);
	assert_int_equal(judge_aged(60, 30, turnover, turnover, 1), JPROF_TOO_EARLY);
	assert_int_equal(judge_aged(0, 0, growing, few, 1), JPROF_WITHIN_ERROR);
	assert_int_equal(judge_aged(60, 30, growing, growing, 1), JPROF_TOO_EARLY);
	assert_int_equal(judge_aged(9, 0, growing, growing, 1), JPROF_FEW_SAMPLES);
	assert_int_equal(judge_aged(0, 100, turnover, turnover, 0), JPROF_SHRANK);
}

/* Memory that lies outside is counted: below 1 MB, or 2 % of what there was, nothing grew. */
TEST(test_counted)
{
	static const double mega = 1 << 20;
	struct jprof_range none = { NAN, NAN, NAN, NAN, false, false };
	struct jprof_change steps[] = { { 5 * mega, none, 60 }, { 5 * mega, none, 60 } };
	struct jp_course c = { .steps = steps, .count = 2, .whole = { 10 * mega, none, 120 }, .counted = true };
	assert_int_equal(jp_verdict_of(&c), JPROF_LEAK_SUSPECT);
	/* The limit itself is growth, and a byte less is none: of the whole, and of steps. */
	c.count = 1;
	c.whole.growth = steps[0].growth = mega;
	assert_int_equal(jp_verdict_of(&c), JPROF_GROWING);
	c.whole.growth = steps[0].growth = mega - 1;
	assert_int_equal(jp_verdict_of(&c), JPROF_MINOR_CHANGE);
	c.count = 2;
	c.whole.growth = 2 * mega;
	steps[0].growth = steps[1].growth = mega;
	assert_int_equal(jp_verdict_of(&c), JPROF_LEAK_SUSPECT);
	steps[0].growth = steps[1].growth = 5 * mega;
	c.whole.growth = 10 * mega;
	c.first = 600 * mega; /* it has no error that it could be within */
	assert_int_equal(jp_verdict_of(&c), JPROF_MINOR_CHANGE);
	c.first = 0;
	c.idle = true;
	assert_int_equal(jp_verdict_of(&c), JPROF_TURNOVER);
	c.idle = false;
	steps[1].growth = 0;
	assert_int_equal(jp_verdict_of(&c), JPROF_LEVELLED_OFF);
	/* The same growth in a tenth of the time is no slower pace. */
	steps[1] = (struct jprof_change){ 2 * mega, none, 6 };
	assert_int_equal(jp_verdict_of(&c), JPROF_LEAK_SUSPECT);
	c.whole.growth = -5 * mega;
	steps[0].growth = steps[1].growth = -2.5 * mega;
	assert_int_equal(jp_verdict_of(&c), JPROF_SHRANK);
}

/* Upper tails of the standard normal distribution, by its tables. */
TEST(test_thresholds)
{
	assert_true(fabs(jp_chance_threshold(0.01, 1000) - 4.265) < 0.001);
	assert_true(fabs(jp_chance_threshold(0.005, 10) - 3.2905) < 0.001);
	assert_true(fabs(jp_chance_threshold(0.025, 1) - 1.95996) < 0.001);
	assert_true(fabs(jp_chance_of(3.2905, 10) - 0.005) < 0.0001);
	assert_true(fabs(jp_chance_of(0, 1) - 0.5) < 1e-9);
	/* 15 that came and none that went are beyond 4.41: of 22 to be expected so many come in 95 %, of 16 ten. */
	assert_true(jp_samples_seen_at(4.41, 0) == 22);
	assert_true(jp_samples_seen_at(1, 0) == 16);
	/* Beside 100 that were replaced it takes as much as the docs' table says: 6 standard errors and more. */
	double more = jp_samples_seen_at(4.41, 100);
	assert_true(more > (4.41 + 1.645) * sqrt(200) && more < (4.41 + 1.645) * sqrt(200 + more) + 1);
	const struct jprof_change replaced = change(130, 100);
	assert_true(fabs(jp_samples_left(&replaced) - 100) < 1e-6);
	const struct jprof_change enough = change(15, 0), not = change(14, 0);
	assert_true(jp_change_distance(&enough) >= 4.41 && jp_change_distance(&not ) < 4.41);
	const struct jprof_change many = change(10500, 10000), certain = { .growth = 1000, .seconds = NAN };
	assert_true(fabs(jp_change_distance(&many) - 500 / sqrt(20500)) < 0.01);
	assert_true(jp_change_distance(&certain) == INFINITY);
}

TEST(test_words)
{
	for (int i = 0; i < JPROF_VERDICTS; i++) {
		const struct jprof_verdict_words *w = jprof_verdict_words((enum jprof_verdict)i);
		assert_true(*w->shown && *w->key && *w->means && w->needs);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(w->key, jprof_verdict_words((enum jprof_verdict)k)->key);
	}
	assert_string_equal(jprof_verdict_words(JPROF_LEAK_SUSPECT)->shown, "leak suspect");
	assert_string_equal(jprof_verdict_words(JPROF_VERDICTS)->shown, "");
}
