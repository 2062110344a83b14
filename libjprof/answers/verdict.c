#include "answers/verdict.h"

#include <math.h>

/* ---- words ------------------------------------------------------------------------------------------------ */

const struct jprof_verdict_words *jprof_verdict_words(enum jprof_verdict verdict)
{
	static const struct jprof_verdict_words none = { "", "", "", "" }, words[JPROF_VERDICTS] = {
		[JPROF_LEAK_SUSPECT] = { "leak suspect", "leak_suspect",
		                         "grew beyond chance, and goes on after it began, or came in every age, with no bound in sight",
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
		                      "grew by more than its interval: among so many rows chance makes one like it, or it may have stopped",
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

double jp_samples_seen_at(double threshold, double left)
{
	static const double sure = 1.645, least = 16; /* 95 %; of 16 to be expected ten come in so many */
	double spread = sqrt((1 + left / (left + half_a_sample)) / 2);
	double root = sqrt(left + half_a_sample) + (threshold + sure * spread) / sqrt(2);
	return fmax(ceil(root * root - half_a_sample - left), least);
}

double jp_samples_left(const struct jprof_change *c)
{
	double lead = c->range.error > 0 ? c->growth / c->range.error * sqrt(c->range.samples) : 0;
	return fmax((c->range.samples - lead) / 2, 0);
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

/* Steps from `first` on, up to `end`, together. What came in one and went in another counts in both, but is in no
 * difference over more than these: so all less what is not of them bounds the error, too. */
static struct jprof_change stretch(const struct jp_course *course, size_t first, size_t end)
{
	struct jprof_change sum = { 0 };
	double others = error_of_change(&course->whole) * error_of_change(&course->whole), own = 0;
	for (size_t i = 0; i < course->count; i++) {
		const struct jprof_change *step = &course->steps[i];
		bool in = i >= first && i < end;
		double error = error_of_change(step);
		*(in ? &own : &others) += error * error;
		sum.growth += in ? step->growth : 0;
		sum.seconds += in ? step->seconds : 0;
		sum.range.samples += in ? step->range.samples : 0;
	}
	double least = fmin(own, others);
	sum.range.samples *= own > 0 ? least / own : 1;
	sum.range.error = sqrt(least);
	return sum;
}

/* Whether a stretch of steps surely has less than half of the pace of another. Where times are not known steps are as
 * long. */
static bool is_surely_slower(const struct jprof_change *late, size_t steps, const struct jprof_change *rest,
                             size_t rest_steps)
{
	static const double sure = 1.645, share = 0.5; /* one-sided, 95 % */
	double as_long =
	    rest->seconds > 0 && late->seconds > 0 ? late->seconds / rest->seconds : (double)steps / (double)rest_steps;
	double half = share * as_long, error = hypot(error_of_change(late), half * error_of_change(rest));
	return rest->growth > 0 && late->growth - half * rest->growth < -sure * error;
}

/* True if a stretch of steps may be none at all: of flat ones 1.8 % are said to be some. */
static bool may_be_flat(const struct jp_course *course, const struct jprof_change *c)
{
	static const double some = 2.1; /* standard errors */
	return course->counted ? is_daily(course, c->growth) || c->growth < 0 : jp_change_distance(c) < some;
}

/* How a growth went on after it had begun. */
struct going_on {
	size_t rise;  /* the step in which it began: those before may be none, and are slower than what came then */
	bool judged;  /* there are steps after that, */
	bool some;    /* which grew together, */
	bool steady;  /* and are not surely slower than half of the pace until then */
	bool stopped; /* from some step on up to the last it is surely slower, and may be none */
};

static struct going_on how_it_went_on(const struct jp_course *course)
{
	struct going_on g = { 0 };
	size_t count = course->count;
	for (; g.rise + 1 < count; g.rise++) {
		struct jprof_change begin = stretch(course, g.rise, g.rise + 1),
				    rest = stretch(course, g.rise + 1, count);
		if (!may_be_flat(course, &begin) || !is_surely_slower(&begin, 1, &rest, count - g.rise - 1))
			break;
	}
	g.judged = g.rise + 1 < count;
	for (size_t at = g.rise + 1; at < count; at++) {
		struct jprof_change head = stretch(course, g.rise, at), tail = stretch(course, at, count);
		bool slower = is_surely_slower(&tail, count - at, &head, at - g.rise),
		     flat = may_be_flat(course, &tail);
		g.stopped = g.stopped || (slower && flat);
		if (at == g.rise + 1) {
			g.some = !flat;
			g.steady = !slower;
		}
	}
	return g;
}

/* Whether all growth is in one step of several, and was not in the first of them. */
static bool is_one_step(const struct jp_course *course, const struct going_on *g)
{
	struct jprof_change tail = stretch(course, g->rise + 1, course->count);
	return g->rise > 0 && may_be_flat(course, &tail);
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

/* A small object's sample stands for `rate` bytes and is as far off, a large one's is not off at all: the square of the
 * error says how many are small, at least. */
bool jp_is_one_buffer(const struct jp_course *course)
{
	static const double old_and_new = 2.5, beside = 0.1;
	const struct jprof_range *range = &course->whole.range;
	double small = course->rate > 0 ? ceil(pow(range->error / course->rate, 2)) : 0;
	return !course->counted && range->samples > 0 && range->samples - small < old_and_new &&
	       small * course->rate <= beside * course->whole.growth;
}

/* Of one that did not grow in the last steps. A single growth is an event, and nothing tells whether there is a next
 * one. Where there were more, it would take twice as long to the next one as it took to the last. */
static enum jprof_verdict verdict_of_buffer(const struct jp_course *course)
{
	double gap = 0, span = 0,
	       still = 0; /* between the last two growths, since the last began, and since it ended */
	unsigned growths = 0;
	bool timed = true;
	for (size_t i = 0; i < course->count; i++)
		timed = timed && course->steps[i].seconds > 0;
	for (size_t i = 0; i < course->count; i++) {
		bool grew = beyond_chance(course, &course->steps[i]) > 0;
		double length = timed ? course->steps[i].seconds : 1;
		gap = grew ? span + length : gap;
		span = grew ? length : span + length;
		still = grew ? 0 : still + length;
		growths += grew;
	}
	return growths < 2 ? JPROF_ONE_JUMP : still > 2 * gap ? JPROF_LEVELLED_OFF : JPROF_GROWING;
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
	if (course->idle)
		return JPROF_TURNOVER;
	enum jprof_verdict by_ages = verdict_by_ages(course);
	size_t sure = course->uncollected ? collected_growths(course) : course->count;
	if (by_ages != JPROF_LEAK_SUSPECT && has_no_direction(course))
		return JPROF_UP_AND_DOWN;
	if (is_one_object(course) && sure)
		return JPROF_ONE_JUMP;
	/* What fell in the last step alone, and came all the time, has not stopped. */
	bool comes = by_ages == JPROF_LEAK_SUSPECT && beyond_chance(course, &course->steps[course->count - 1]) < 0;
	const struct going_on g = how_it_went_on(course);
	if (g.stopped && !comes && jp_is_one_buffer(course))
		return verdict_of_buffer(course);
	if (g.stopped && !comes)
		return is_one_step(course, &g) ? JPROF_ONE_JUMP : JPROF_LEVELLED_OFF;
	bool goes_on = g.judged && g.some && g.steady;
	if (by_ages == JPROF_LEVELLED_OFF || (by_ages == JPROF_ONE_JUMP && sure) ||
	    (by_ages == JPROF_TURNOVER && !goes_on))
		return by_ages;
	if (!sure)
		return JPROF_MAYBE_GARBAGE;
	if (course->uncollected && sure < 2) /* the last step may be garbage */
		return JPROF_GROWING;
	if (goes_on && is_of_many(course))
		return JPROF_LEAK_SUSPECT;
	if (by_ages == JPROF_LEAK_SUSPECT)
		return by_ages;
	return g.judged && !g.some ? JPROF_TOO_EARLY : JPROF_GROWING;
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
