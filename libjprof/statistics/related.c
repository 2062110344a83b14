#include "statistics/related.h"

#include <float.h>
#include <math.h>

/* The standard errors add up, as if each sampled object were worth what it is in both. */
void jp_seen_join(struct jp_seen *to, const struct jp_seen *from, double factor)
{
	struct jp_seen sum = *to;
	jp_seen_add(&sum, from, factor);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		double error = sqrt(to->variance[c]) + factor * sqrt(from->variance[c]), apart = sum.variance[c];
		sum.variance[c] = error * error;
		if (apart > 0)
			sum.worth[c] = (float)fmin(sum.worth[c] * sum.variance[c] / apart, FLT_MAX);
	}
	*to = sum;
}

/* Sampled objects that are in the late dump alone, and in the early one alone. */
struct apart {
	double late, early;
};

static double between(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* With prof_accum it is known how many were allocated in between, and so how many were freed. */
static struct apart in_use_apart(const struct jp_seen *late, const struct jp_seen *early, bool equal,
                                 struct jp_lineage *lineage)
{
	double n2 = late->n[0], n1 = early->n[0], made = late->n[1] - early->n[1];
	bool recorded = late->n[1] > 0 && early->n[1] > 0 && made >= 0 && (made > 0 || n2 != n1 || equal);
	lineage->shared_unknown |= !recorded && n1 > 0 && n2 > 0;
	lineage->other_counts |= !recorded && n1 > 0 && n2 > 0 && late->n[1] > 0 && early->n[1] > 0;
	if (equal && !(recorded && made > 0))
		return (struct apart){ 0, 0 };
	if (!recorded)
		return (struct apart){ n2, n1 };
	if (made < n2 - n1)
		made = n2 - n1;
	return (struct apart){ between(made, 0, n2), between(made - (n2 - n1), 0, n1) };
}

/* What was ever allocated only grows, in one process. */
static struct apart allocated_apart(const struct jp_seen *late, const struct jp_seen *early, bool equal)
{
	double n2 = late->n[1], n1 = early->n[1];
	if (n2 < n1 || (n2 == n1 && !equal))
		return (struct apart){ n2, n1 };
	return (struct apart){ n2 - n1, 0 };
}

/* What is left when only `part` of the samples of a pair stay. */
static void keep_part(struct jp_seen *seen, int pair, double part)
{
	double whole = seen->n[pair];
	seen->n[pair] = part;
	seen->rounding[pair] *= (float)(whole > 0 ? part / whole : 0);
	for (int c = 2 * pair; c < 2 * pair + 2; c++)
		seen->variance[c] *= whole > 0 ? part / whole : 0;
}

/* Those in use that are gone of a stack of which nothing can have come. What is left takes its part of the variance
 * with it: the bound for objects of several sizes is never less for a sum than for its parts. */
static void keep_removed(struct jp_seen *late, struct jp_seen *early, bool equal)
{
	struct jp_seen before = *early;
	double gone = equal ? 0 : between(early->n[0] - late->n[0], 1, early->n[0]);
	keep_part(early, 0, gone);
	for (int c = JPROF_INUSE_SPACE; c <= JPROF_INUSE_OBJECTS && !equal; c++)
		early->variance[c] = fmax(early->variance[c], before.variance[c] - late->variance[c]);
	keep_part(late, 0, 0);
}

void jp_seen_cancel(struct jp_seen *late, struct jp_seen *early, const struct jp_sides *sides,
                    struct jp_lineage *lineage)
{
	if (sides->closed && late->n[0] <= early->n[0]) {
		keep_removed(late, early, sides->equal[0]);
	} else {
		struct apart in_use = in_use_apart(late, early, sides->equal[0], lineage);
		keep_part(late, 0, in_use.late);
		keep_part(early, 0, in_use.early);
	}
	struct apart allocated = allocated_apart(late, early, sides->equal[1]);
	keep_part(late, 1, allocated.late);
	keep_part(early, 1, allocated.early);
}
