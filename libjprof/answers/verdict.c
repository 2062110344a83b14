#include "answers/verdict.h"

#include <math.h>

#include "base/macros.h"

/* ---- words ------------------------------------------------------------------------------------------------ */

const struct jprof_verdict_words *jprof_verdict_words(enum jprof_verdict verdict)
{
	static const struct jprof_verdict_words none = { "", "", "", "" }, words[JPROF_VERDICTS] = {
		[JPROF_LEAK_SUSPECT] = { "leak suspect", "leak_suspect",
		                         "grew in every interval or every age, beyond chance over the whole, with no bound in sight",
		                         "3 snapshots, or 2 with ages" },
		[JPROF_GROWING] = { "growing", "growing", "grew beyond chance; too early to say if it stops",
		                    "2 snapshots" },
		[JPROF_LEVELLED_OFF] = { "levelled off", "levelled_off", "grew, then nothing new",
		                         "ages or 3 snapshots" },
		[JPROF_TURNOVER] = { "turnover", "turnover",
		                     "old ones go as new ones come: a cache with a limit, work in flight", "ages" },
		[JPROF_UP_AND_DOWN] = { "up and down", "up_and_down", "no direction", "3 snapshots" },
		[JPROF_ONE_JUMP] = { "one jump", "one_jump", "all in one short time, kept since",
		                     "ages or 4 snapshots, or a single object" },
		[JPROF_FROM_STARTUP] = { "from startup", "startup", "there since the start, unchanged", "ages" },
		[JPROF_MAYBE_GARBAGE] = { "maybe garbage", "maybe_garbage",
		                          "Ruby's, and a snapshot was taken without GC", "" },
		[JPROF_WITHIN_ERROR] = { "within error", "within_error", "the 95 % interval holds 0", "" },
		[JPROF_MINOR_CHANGE] = { "minor change", "minor_change",
		                         "counted, not sampled, and too small a change to be named", "" },
		[JPROF_FEW_SAMPLES] = { "few samples", "few_samples",
		                        "fewer than 10 samples: the number may be far off", "" },
		[JPROF_TOO_EARLY] = { "too early to tell", "unknown",
		                      "the 95 % interval leaves out 0, but of so many rows chance alone makes one like it",
		                      "another snapshot, or more samples" },
		[JPROF_SHRANK] = { "shrank", "shrank", "fell beyond chance", "" },
	};
	return (unsigned)verdict < JPROF_VERDICTS ? &words[verdict] : &none;
}

/* ---- chance ----------------------------------------------------------------------------------------------- */

static const double few_changed = 10;    /* sampled objects that have to have changed */
static const double half_a_sample = 0.5; /* counts are whole */

/* Counts of new and gone samples are Poisson variables; the difference of their square roots has a variance that does
 * not depend on them. Weights are those of the mean sample. */
double jp_change_distance(const struct jprof_change *c)
{
	double samples = c->range.samples, error = c->range.error;
	if (c->growth == 0)
		return 0;
	if (!(error > 0) || !(samples > 0))
		return c->growth > 0 ? INFINITY : -INFINITY;
	double lead = c->growth / error * sqrt(samples);
	double came = fmax((samples + lead) / 2, 0), left = fmax((samples - lead) / 2, 0);
	return sqrt(2) * (sqrt(came + half_a_sample) - sqrt(left + half_a_sample));
}

double jp_samples_seen_at(double threshold)
{
	double root = threshold / sqrt(2) + sqrt(half_a_sample);
	return fmax(ceil(root * root - half_a_sample), few_changed);
}

static double upper_tail(double distance)
{
	return erfc(distance / sqrt(2)) / 2;
}

double jp_chance_of(double distance, double rows)
{
	return -expm1(rows * log1p(-upper_tail(distance)));
}

double jp_chance_threshold(double share, double rows)
{
	double low = 0, high = 40;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		*(upper_tail(middle) * fmax(rows, 1) > share ? &low : &high) = middle;
	}
	return high;
}

/* ---- the course ------------------------------------------------------------------------------------------- */

/* What counts has no error: less than this is daily life, and no growth. */
static bool is_daily(const struct jp_course *course, double growth)
{
	static const double least = 1 << 20, share = 0.02;
	return fabs(growth) < fmax(least, share * course->first);
}

static int beyond_chance(const struct jp_course *course, const struct jprof_change *c)
{
	if (course->counted)
		return is_daily(course, c->growth) ? 0 : c->growth > 0 ? 1 : -1;
	double distance = jp_change_distance(c);
	return distance >= course->threshold ? 1 : distance <= -course->threshold ? -1 : 0;
}

static double error_of_change(const struct jprof_change *c)
{
	return c->range.error > 0 ? c->range.error : 0;
}

/* Whether a step surely has less than half of the pace of all others together. Where times are not known steps are as
 * long. */
static bool is_surely_slower(const struct jp_course *course, size_t at)
{
	static const double sure = 1.645, share = 0.5; /* one-sided, 95 % */
	const struct jprof_change *step = &course->steps[at];
	double rest = 0, variance = 0, time = 0;
	for (size_t i = 0; i < course->count; i++)
		if (i != at) {
			rest += course->steps[i].growth;
			variance += error_of_change(&course->steps[i]) * error_of_change(&course->steps[i]);
			time += course->steps[i].seconds;
		}
	double as_long = time > 0 && step->seconds > 0 ? step->seconds / time : 1 / (double)(course->count - 1);
	double half = share * as_long, error = hypot(error_of_change(step), half * sqrt(variance));
	return rest > 0 && step->growth - half * rest < -sure * error;
}

/* Whether a step may be none at all. */
static bool may_be_flat(const struct jp_course *course, size_t at)
{
	const struct jprof_change *step = &course->steps[at];
	return course->counted ? is_daily(course, step->growth) : step->growth <= 0 || step->range.low <= 0;
}

/* Steps that are neither flat nor slow; *at is the last of them. */
static size_t risen_steps(const struct jp_course *course, size_t *at)
{
	size_t risen = 0;
	for (size_t i = 0; i < course->count; i++)
		if (!may_be_flat(course, i) && !is_surely_slower(course, i)) {
			*at = i;
			risen++;
		}
	return risen;
}

/* A bound is in sight where the last step is slower; what only begins may grow faster and faster. */
static bool grew_in_each(const struct jp_course *course)
{
	size_t last = course->count - 1;
	for (size_t i = 0; i < course->count; i++)
		if (course->steps[i].growth <= 0 ||
		    (is_surely_slower(course, i) && (i == last || may_be_flat(course, i))))
			return false;
	return true;
}

static bool any_step(const struct jp_course *course, int direction)
{
	for (size_t i = 0; i < course->count; i++)
		if (beyond_chance(course, &course->steps[i]) == direction)
			return true;
	return false;
}

/* Whether falls that are beyond chance are a real part of a growth: one dip, as by a GC or a cache that was emptied,
 * hides no leak. */
static bool has_no_direction(const struct jp_course *course)
{
	static const double part = 0.25;
	double fallen = 0;
	for (size_t i = 0; i < course->count; i++)
		if (beyond_chance(course, &course->steps[i]) < 0)
			fallen -= course->steps[i].growth;
	return course->count > 1 && fallen > 0 && fallen >= part * course->whole.growth;
}

/* Large objects are sampled for sure, so that growth of a few is certain, and yet no trend. One alone is one event. */
static bool is_one_object(const struct jp_course *course)
{
	return !course->counted && course->whole.range.samples > 0 && course->whole.range.samples < 2;
}

static bool is_of_many(const struct jp_course *course)
{
	return course->counted || course->whole.range.samples >= few_changed;
}

/* ---- ages ---------------------------------------------------------------------------------------------------- */

/* Whether most of what was there at the first snapshot has been replaced. */
static bool is_replaced(const struct jp_course *course)
{
	static const double most = 0.5;
	return course->kept < most;
}

/* What the ages of a row that grew beyond chance say; JPROF_GROWING: nothing. Those of what came since the first
 * snapshot count first; where they are too few, or of too few epochs, those of all. What began a short time ago looks
 * like turnover, but it leaves alone what was there before. */
static enum jprof_verdict verdict_by_ages(const struct jp_course *course)
{
	enum jprof_shape since = course->shape_since;
	bool known = since != JPROF_SHAPE_NONE && since != JPROF_SHAPE_FEW && since != JPROF_SHAPE_UNKNOWN;
	switch (known ? since : course->shape) {
	case JPROF_SHAPE_GROWING: return is_replaced(course) ? JPROF_TURNOVER : JPROF_LEAK_SUSPECT;
	case JPROF_SHAPE_TURNOVER: return is_replaced(course) ? JPROF_TURNOVER : JPROF_GROWING;
	case JPROF_SHAPE_LEVELLED_OFF: return JPROF_LEVELLED_OFF;
	case JPROF_SHAPE_ONE_JUMP: return JPROF_ONE_JUMP;
	default: return JPROF_GROWING;
	}
}

/* Of a row that did not change. */
static enum jprof_verdict verdict_at_rest(const struct jp_course *course)
{
	switch (course->shape) {
	case JPROF_SHAPE_STARTUP: return JPROF_FROM_STARTUP;
	case JPROF_SHAPE_TURNOVER: return JPROF_TURNOVER;
	case JPROF_SHAPE_LEVELLED_OFF: return JPROF_LEVELLED_OFF;
	case JPROF_SHAPE_ONE_JUMP: return JPROF_ONE_JUMP;
	default: return course->counted ? JPROF_MINOR_CHANGE : JPROF_WITHIN_ERROR;
	}
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

/* How many steps from one collection to the next grew beyond chance: what these show is no garbage. */
static size_t collected_growths(const struct jp_course *course)
{
	size_t count = 0;
	for (size_t i = 0; course->collected && i < course->count; i++)
		count +=
		    course->collected[i] && course->collected[i + 1] && beyond_chance(course, &course->steps[i]) > 0;
	return count;
}

/* Of a row that grew beyond chance. */
static enum jprof_verdict verdict_of_growth(const struct jp_course *course)
{
	size_t last = course->count - 1, at = 0;
	if (course->idle)
		return JPROF_TURNOVER;
	enum jprof_verdict by_ages = verdict_by_ages(course);
	size_t sure = course->uncollected ? collected_growths(course) : course->count;
	if (by_ages != JPROF_LEAK_SUSPECT && has_no_direction(course))
		return JPROF_UP_AND_DOWN;
	if (is_one_object(course) && sure)
		return JPROF_ONE_JUMP;
	/* What fell in the last step alone, and came all the time, has not stopped. */
	bool comes = by_ages == JPROF_LEAK_SUSPECT && beyond_chance(course, &course->steps[last]) < 0;
	if (course->count > 1 && !comes && is_surely_slower(course, last) && may_be_flat(course, last))
		return risen_steps(course, &at) == 1 && at > 0 ? JPROF_ONE_JUMP : JPROF_LEVELLED_OFF;
	bool in_each = course->count > 1 && grew_in_each(course);
	if (by_ages == JPROF_LEVELLED_OFF || (by_ages == JPROF_ONE_JUMP && sure) ||
	    (by_ages == JPROF_TURNOVER && !in_each))
		return by_ages;
	if (!sure)
		return JPROF_MAYBE_GARBAGE;
	if (course->uncollected && sure < 2) /* the last step may be garbage */
		return JPROF_GROWING;
	if (in_each && is_of_many(course))
		return JPROF_LEAK_SUSPECT;
	return by_ages == JPROF_LEAK_SUSPECT ? by_ages : JPROF_GROWING;
}

enum jprof_verdict jp_verdict_of(const struct jp_course *course)
{
	const struct jprof_range *range = &course->whole.range;
	int direction = beyond_chance(course, &course->whole);
	if (!course->counted && direction && range->few_samples)
		return JPROF_FEW_SAMPLES;
	if (direction > 0)
		return verdict_of_growth(course);
	if (course->count > 1 && any_step(course, 1) && any_step(course, -1))
		return JPROF_UP_AND_DOWN;
	if (direction < 0)
		return JPROF_SHRANK;
	if (course->counted || course->whole.growth == 0 || range->within_error)
		return verdict_at_rest(course);
	if (range->few_samples)
		return JPROF_FEW_SAMPLES;
	return course->shape == JPROF_SHAPE_TURNOVER && is_replaced(course) ? JPROF_TURNOVER : JPROF_TOO_EARLY;
}
