#include "statistics/shape.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/search.h"

enum { few_samples = 10, least_pieces = 4, most_pieces = 256 };

/* Of any shape this share of the samples may lie anywhere. */
static const double astray = 0.03;

/* A second shape below a first counts from this share of a row, and from ten samples, on. */
static const double second_share = 0.05;

/* And from this share on the first is not told where the second may be growth. */
static const double doubtful_share = 0.1;

/* So many judgements may have one wrong by chance. */
static const double one_in = 20;

/* How likely the samples are by each shape: by the best of its kind, as logarithms. */
struct contest {
	const double *n, *length;
	size_t count;
	double all, time; /* sums of both */
	bool continues;   /* what was made at startup, and the first piece, are one */
	double best[JPROF_SHAPES];
	struct model {
		double begin, end; /* parts of the time between which samples are spread, */
		double scale;      /* or 0, */
		bool towards_now;
		double likelihood;
	} model; /* the best of all */
};

static void contest_enter(struct contest *c, enum jprof_shape shape, const struct model *model)
{
	c->best[shape] = fmax(c->best[shape], model->likelihood);
	if (model->likelihood > c->model.likelihood)
		c->model = *model;
}

/* ---- samples spread evenly over some pieces, and none elsewhere --------------------------------------------- */

/* The shape of what began and ended at these parts of the time, in that many pieces. */
static enum jprof_shape shape_of_box(const struct contest *c, double begin, double end, size_t pieces, bool first,
                                     bool last)
{
	static const double growing = 1 / 2.0, turnover = 1 / 3.0, jump = 1 / 4.0, brief = 1 / 20.0;
	static const double after_jump = 1 / 10.0, after_growth = 1 / 5.0;
	double width = end - begin;
	if (last)
		return width >= growing    ? JPROF_SHAPE_GROWING
		       : width <= turnover ? JPROF_SHAPE_TURNOVER
		                           : JPROF_SHAPE_UNKNOWN;
	if (((pieces <= 2 && width <= jump) || width <= brief) && !(first && c->continues))
		return 1 - end >= after_jump ? JPROF_SHAPE_ONE_JUMP : JPROF_SHAPE_UNKNOWN;
	return 1 - end >= after_growth ? JPROF_SHAPE_LEVELLED_OFF : JPROF_SHAPE_UNKNOWN;
}

/* The logarithm of how likely the samples are if `inside` of them lie in a part of the time. Of all pieces their
 * lengths' logarithms are left out, here and below. */
static double likelihood_of_box(const struct contest *c, double inside, double width)
{
	double outside = c->all - inside;
	return inside * log((1 - astray) / width + astray) + outside * log(astray);
}

static void enter_box(struct contest *c, size_t first, size_t last, double begin, double end, double inside)
{
	const struct model model = { .begin = begin,
		                     .end = end,
		                     .likelihood = likelihood_of_box(c, inside, end - begin) };
	contest_enter(c, shape_of_box(c, begin, end, last + 1 - first, first == 0, last + 1 == c->count), &model);
}

static void enter_boxes(struct contest *c)
{
	double begin = 0;
	for (size_t i = 0; i < c->count; i++) {
		double end = begin, inside = 0;
		for (size_t k = i; k < c->count; k++) {
			inside += c->n[k];
			end += c->length[k] / c->time;
			if (c->n[i] > 0 && c->n[k] > 0)
				enter_box(c, i, k, begin, end, inside);
		}
		if (c->n[i] > 0) /* up to now, though the last pieces may have got none */
			enter_box(c, i, c->count - 1, begin, 1, inside);
		begin += c->length[i] / c->time;
	}
	enter_box(c, 0, c->count - 1, 0, 1, c->all);
}

/* ---- samples that become fewer ------------------------------------------------------------------------------ */

/* How dense samples are in a part of the time, against evenly spread ones, if they become fewer by e for each `scale`
 * of the time, towards the past or towards now. */
static double density_of_decay(double scale, bool towards_now, double begin, double part)
{
	double near = towards_now ? begin : fmax(1 - begin - part, 0);
	return (1 - astray) * exp(-near / scale) * expm1(-part / scale) / expm1(-1 / scale) / part + astray;
}

static void enter_decay(struct contest *c, enum jprof_shape shape, double scale, bool towards_now)
{
	struct model model = { .scale = scale, .towards_now = towards_now };
	double begin = 0;
	for (size_t i = 0; i < c->count; i++) {
		double part = c->length[i] / c->time;
		if (c->n[i] > 0)
			model.likelihood += c->n[i] * log(density_of_decay(scale, towards_now, begin, part));
		begin += part;
	}
	contest_enter(c, shape, &model);
}

static void enter_decays(struct contest *c)
{
	static const struct {
		double scale;
		enum jprof_shape to_past, to_now;
	} decays[] = {
		{ 0.025, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_UNKNOWN },
		{ 0.035, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_UNKNOWN },
		{ 0.05, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_UNKNOWN },
		{ 0.07, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_LEVELLED_OFF },
		{ 0.1, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_LEVELLED_OFF },
		{ 0.14, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_LEVELLED_OFF },
		{ 0.2, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_LEVELLED_OFF },
		{ 0.25, JPROF_SHAPE_TURNOVER, JPROF_SHAPE_UNKNOWN },
		{ 0.35, JPROF_SHAPE_UNKNOWN, JPROF_SHAPE_UNKNOWN },
		{ 0.5, JPROF_SHAPE_UNKNOWN, JPROF_SHAPE_UNKNOWN },
		{ 0.7, JPROF_SHAPE_GROWING, JPROF_SHAPE_UNKNOWN },
		{ 1, JPROF_SHAPE_GROWING, JPROF_SHAPE_GROWING },
		{ 2, JPROF_SHAPE_GROWING, JPROF_SHAPE_GROWING },
	};
	for (size_t i = 0; i < jp_count(decays); i++) {
		enum jprof_shape to_now = decays[i].to_now;
		if (to_now == JPROF_SHAPE_UNKNOWN && c->continues && decays[i].scale < 0.25)
			to_now = JPROF_SHAPE_LEVELLED_OFF;
		enter_decay(c, decays[i].to_past, decays[i].scale, false);
		enter_decay(c, to_now, decays[i].scale, true);
	}
}

/* ---- the judgement ------------------------------------------------------------------------------------------ */

static double total_of(const double *numbers, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

static double expected_in(const struct contest *c, double begin, double part)
{
	const struct model *m = &c->model;
	double inside = fmax(fmin(begin + part, m->end) - fmax(begin, m->begin), 0);
	double density = m->scale > 0 ? density_of_decay(m->scale, m->towards_now, begin, part)
	                              : (1 - astray) * inside / part / (m->end - m->begin) + astray;
	return c->all * part * density;
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return jp_order(*x, *y);
}

/* Load is never even, so counts scatter by more than chance: how many times as much they do, against what the best
 * model expects, by the median of their squared deviations, which the few pieces at its ends do not move. 1 or more. */
static double scatter_of(const struct contest *c)
{
	static const double median_of_chance = 0.455; /* of chi-square, one degree of freedom */
	double deviation[most_pieces], begin = 0;
	size_t count = c->count < most_pieces ? c->count : most_pieces;
	for (size_t i = 0; i < count; begin += c->length[i++] / c->time) {
		double expected = expected_in(c, begin, c->length[i] / c->time), off = c->n[i] - expected;
		deviation[i] = off * off / fmax(expected, 1);
	}
	qsort(deviation, count, sizeof *deviation, compare_numbers);
	return count ? fmax(deviation[count / 2] / median_of_chance, 1) : 1;
}

/* The likeliest, if it is `margin` above all others; JPROF_SHAPE_UNKNOWN else, and where what is between the shapes is
 * likelier by more than uneven load makes it. */
static enum jprof_shape contest_winner(const struct contest *c, double margin)
{
	enum jprof_shape first = JPROF_SHAPE_GROWING;
	for (int s = JPROF_SHAPE_STARTUP; s < JPROF_SHAPES; s++)
		first = c->best[s] > c->best[first] ? (enum jprof_shape)s : first;
	for (int s = JPROF_SHAPE_STARTUP; s < JPROF_SHAPES; s++)
		if (s != (int)first && c->best[s] > c->best[first] - margin)
			return JPROF_SHAPE_UNKNOWN;
	return c->best[JPROF_SHAPE_UNKNOWN] > c->best[first] + margin * scatter_of(c) ? JPROF_SHAPE_UNKNOWN : first;
}

static struct contest contest_of(const struct jp_shape_time *time, const double *n, bool continues)
{
	struct contest c = { .n = n, .length = time->length, .count = time->count, .continues = continues };
	c.all = total_of(n, c.count);
	c.time = total_of(c.length, c.count);
	for (int s = 0; s < JPROF_SHAPES; s++)
		c.best[s] = -INFINITY;
	c.model.likelihood = -INFINITY;
	enter_boxes(&c);
	enter_decays(&c);
	return c;
}

/* Growing where what is left of a row without its first shape, the pieces from..to-1, grows; unknown where it may. */
static enum jprof_shape judge_rest(const struct jp_shape_time *time, const double *n, size_t from, size_t to,
                                   enum jprof_shape first, double margin)
{
	const struct jp_shape_time part = { time->length + from, to - from };
	double rest = total_of(n + from, part.count), all = total_of(n, time->count);
	if (part.count < least_pieces || rest < few_samples || rest < second_share * all)
		return first;
	const struct contest c = contest_of(&part, n + from, false);
	if (contest_winner(&c, margin) == JPROF_SHAPE_GROWING)
		return JPROF_SHAPE_GROWING;
	for (int s = 0; s < JPROF_SHAPES; s++)
		if (c.best[s] > c.best[JPROF_SHAPE_GROWING] + log(one_in))
			return first;
	return rest < doubtful_share * all ? first : JPROF_SHAPE_UNKNOWN;
}

/* Work in flight, a cache that is full, or one jump may lie above a leak. */
static enum jprof_shape look_below(const struct jp_shape_time *time, const double *n, enum jprof_shape shape,
                                   double margin)
{
	double whole = total_of(time->length, time->count), at = 0, most = 0;
	size_t old = 0, end = 0;
	for (size_t i = 0; i < time->count; i++) {
		at += time->length[i];
		old += at <= whole * 2 / 3; /* what turnover may cover comes after these */
		if (n[i] > most) {
			most = n[i];
			end = i;
		}
	}
	if (shape == JPROF_SHAPE_TURNOVER)
		return judge_rest(time, n, 0, old, shape, margin);
	while (end < time->count && n[end] > most / 4)
		end++;
	if (shape == JPROF_SHAPE_LEVELLED_OFF || shape == JPROF_SHAPE_ONE_JUMP)
		return judge_rest(time, n, end, time->count, shape, margin);
	return shape;
}

enum jprof_shape jp_shape_of(const struct jp_shape_time *time, double startup, const double *n, double rows)
{
	static const double unchanged = 0.1;
	double own = total_of(n, time->count), all = startup + own, margin = log(one_in * fmax(rows, 1));
	if (all < few_samples)
		return JPROF_SHAPE_FEW;
	if (time->count < least_pieces)
		return JPROF_SHAPE_UNKNOWN;
	const struct contest c = contest_of(time, n, startup > second_share * all);
	enum jprof_shape shape = look_below(time, n, contest_winner(&c, margin), margin);
	if (shape == JPROF_SHAPE_GROWING && own >= few_samples && own >= second_share * all)
		return shape;
	if (own <= unchanged * all)
		return JPROF_SHAPE_STARTUP;
	if (startup >= own && (shape == JPROF_SHAPE_TURNOVER || shape == JPROF_SHAPE_ONE_JUMP))
		return JPROF_SHAPE_STARTUP;
	return shape;
}
