#include "statistics/evidence.h"

#include <float.h>
#include <math.h>

#include "statistics/gamma.h"
#include "statistics/sampling.h"
#include "statistics/scaling.h"

static const double few = 10;                /* fewer samples than this are few */
static const double small_error = 0.1;       /* unless the error is this part of the value at most */
static const double ends_in_errors = 1.96;   /* from an estimate to the end of its interval */
static const double single_precision = 1e-6; /* of worth and open: an end must not lie beyond what is certain */
static const double none_upper = 3.6889;     /* upper end of the 95 % interval for a count of none */
static const double none_missed = 0.0253;    /* of as many objects expected none comes in 97.5 % of cases */

static float mean_of(double a, double weight_a, double b, double weight_b)
{
	double weight = weight_a + weight_b;
	return (float)(weight > 0 ? fmin((a * weight_a + b * weight_b) / weight, FLT_MAX) : 0);
}

void jp_seen_add(struct jp_seen *to, const struct jp_seen *from, double factor)
{
	for (int i = 0; i < 2; i++) {
		to->n[i] += from->n[i];
		to->rounding[i] += (float)fmin(fabs(factor) * from->rounding[i], FLT_MAX);
	}
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		double old = to->variance[c], more = factor * factor * from->variance[c];
		to->variance[c] = old + more;
		to->worth[c] = mean_of(to->worth[c], old, fabs(factor) * from->worth[c], more);
		to->open[c] = mean_of(to->open[c], old, from->open[c], more);
	}
}

/* Some stacks that did change look as if they had not. Those that are seen to have changed answer for
 * them: m samples in two dumps come in equal numbers once in about sqrt(pi m) times; to be a bound it is
 * more than makes up for that on the average. */
static double look_alikes(const struct jp_lineage *lineage, double m, enum jprof_counter counter)
{
	return lineage->shared_unknown && !jp_counts_ever(counter) && m > 0 ? 1 + 1 / sqrt(m) : 1;
}

static struct jp_spread spread_of(const struct jp_seen *seen, enum jprof_counter counter, double more)
{
	double variance = more * seen->variance[counter], worth = seen->worth[counter], open = seen->open[counter];
	struct jp_spread s = { .n = seen->n[jp_counts_ever(counter)] };
	if (!(variance > 0) || !(s.n > 0))
		return s;
	if (!(worth > 0)) { /* an input that does not tell */
		worth = sqrt(variance / s.n);
		open = 1;
	}
	s.variance = variance;
	s.third = variance * worth * (1 + open);
	s.worth = variance * worth;
	s.open = variance * open;
	s.unsampled = variance / worth * (1 + single_precision);
	return s;
}

struct jp_evidence jp_evidence_of(const struct jp_lineage *lineage, double value, double shift,
                                  const struct jp_seen *plus, const struct jp_seen *minus, enum jprof_counter counter)
{
	int pair = jp_counts_ever(counter);
	double n = plus->n[pair] + minus->n[pair], more = look_alikes(lineage, n, counter);
	return (struct jp_evidence){
		.value = value,
		.shift = shift,
		.plus = spread_of(plus, counter, more),
		.minus = spread_of(minus, counter, more),
		.unknown = value != 0 && n <= 0,
	};
}

double jp_split_rounding(const struct jp_seen *plus, const struct jp_seen *minus, enum jprof_counter counter)
{
	int pair = jp_counts_ever(counter);
	bool bytes = counter == jp_bytes_of(counter);
	return bytes ? (double)plus->rounding[pair] + (double)minus->rounding[pair] : 0;
}

static void spread_add(struct jp_spread *to, const struct jp_spread *from)
{
	to->n += from->n;
	to->variance += from->variance;
	to->third += from->third;
	to->worth += from->worth;
	to->open += from->open;
	to->unsampled += from->unsampled;
}

void jp_evidence_add(struct jp_evidence *to, const struct jp_evidence *from)
{
	to->value += from->value;
	to->shift += from->shift;
	to->rounding += from->rounding;
	spread_add(&to->plus, &from->plus);
	spread_add(&to->minus, &from->minus);
	to->unknown |= from->unknown;
}

/* ---- from evidence to a range ------------------------------------------------------------------ */

/* Distances from an estimate to the ends of its interval. */
struct interval_ends {
	double down, up;
};

/* The shape of the gamma distribution that is as lopsided. */
static double shape(double variance, double third)
{
	return 4 * variance * variance * variance / (third * third);
}

/* Down to no less than the sampled objects themselves. */
static double down_of(const struct jp_spread *s, double half)
{
	double low = jp_gamma_lower(shape(s->variance, s->third));
	return fmin(half - sqrt(s->variance) * low, s->unsampled);
}

static double up_of(double variance, double third, double half)
{
	double up = half + sqrt(variance) * jp_gamma_upper(shape(variance, third));
	return up > 0 ? up : 0;
}

/* The true value is distributed as a gamma variable with the mean, variance and third moment seen; at
 * the upper end as one with another sample, which might have come just as well. `like` tells what
 * that would be worth: the spread itself or, where it has no samples, the other side's. Objects are
 * whole: an end lies half of one further out, unless it is all but sure that none went unsampled. */
static struct interval_ends ends_of(const struct jp_spread *s, const struct jp_spread *like)
{
	struct interval_ends ends = { s->unsampled, 0 };
	if (!(like->variance > 0))
		return ends;
	double worth = like->worth / like->variance, open = like->open / like->variance;
	double variance = s->variance + worth * worth * open, half = worth * (1 - open) / 2;
	if (variance < none_missed * worth * worth)
		return ends;
	if (s->variance > 0)
		ends.down = down_of(s, half);
	ends.up = worth * open + up_of(variance, s->third + worth * worth * worth * open * (1 + open), half);
	return ends;
}

/* Of few samples nobody knows whether all objects at these stacks have the sizes of the sampled ones, which the rest
 * takes for granted. Others may be there, as many bytes as go unsampled altogether. */
static struct interval_ends with_other_sizes(struct interval_ends ends, const struct jp_spread *s, double rate,
                                             enum jprof_counter counter)
{
	double unseen = none_upper * rate / (jp_counts_bytes(counter) ? 1 : jp_least_size);
	if (s->n > 0 && s->n < few && ends.up < unseen)
		ends.up = unseen;
	return ends;
}

static const struct jp_spread *seen_one(const struct jp_spread *s, const struct jp_spread *other)
{
	return s->n > 0 ? s : other;
}

/* Whether more may have been subtracted than was seen. In one process what was ever allocated is never
 * taken back. */
static bool has_minus(const struct jp_lineage *lineage, enum jprof_counter counter)
{
	return lineage->subtracted && (!jp_counts_ever(counter) || lineage->strangers);
}

struct jprof_range jp_evidence_range(const struct jp_lineage *lineage, const struct jp_evidence *e,
                                     enum jprof_counter counter)
{
	const struct jp_spread *plus = &e->plus, *minus = &e->minus;
	struct jprof_range range = { .samples = plus->n + minus->n };
	struct interval_ends up, down = { 0, 0 };
	if (e->unknown) {
		range.error = range.low = range.high = NAN;
		return range;
	}
	up = with_other_sizes(ends_of(plus, seen_one(plus, minus)), plus, lineage->rate, counter);
	if (has_minus(lineage, counter))
		down = with_other_sizes(ends_of(minus, seen_one(minus, plus)), minus, lineage->rate, counter);
	range.error = hypot(sqrt(plus->variance + minus->variance + e->shift * e->shift), e->rounding / ends_in_errors);
	/* Distances of independent sums and differences combine like standard errors. */
	range.low = e->value + e->shift - hypot(up.down, down.up) - e->rounding;
	range.high = e->value + e->shift + hypot(up.up, down.down) + e->rounding;
	/* Two things that have nothing to do with each other: a change of few samples may well be certain, and one of
	 * many may not be. */
	range.few_samples = range.samples < few && range.error > small_error * fabs(e->value);
	range.within_error = lineage->subtracted && range.error > 0 && range.low <= 0 && range.high >= 0;
	return range;
}

/* X bytes go unsampled with the chance exp(-X/rate), whatever the sizes of the objects. */
static void put_nothing_seen(struct jprof_range *range, const struct jp_lineage *lineage, uint64_t rate,
                             enum jprof_counter counter)
{
	double bytes = none_upper * (double)rate;
	range->high = jp_counts_bytes(counter) ? bytes : bytes / jp_least_size;
	range->low = has_minus(lineage, counter) ? -range->high : 0;
}

struct jprof_range jp_evidence_total_range(const struct jp_lineage *lineage, uint64_t rate,
                                           const struct jp_evidence *all, enum jprof_counter counter)
{
	struct jprof_range range = jp_evidence_range(lineage, all, counter);
	if (range.samples <= 0 && !all->unknown)
		put_nothing_seen(&range, lineage, rate, counter);
	return range;
}
