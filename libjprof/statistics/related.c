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
	lineage->fewer_made |= late->n[1] > 0 && early->n[1] > 0 && made < 0;
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
	for (int c = 2 * pair; c < 2 * pair + 2; c++)
		seen->variance[c] *= whole > 0 ? part / whole : 0;
}

void jp_seen_cancel(struct jp_seen *late, struct jp_seen *early, const bool equal[2], struct jp_lineage *lineage)
{
	struct apart in_use = in_use_apart(late, early, equal[0], lineage);
	struct apart allocated = allocated_apart(late, early, equal[1]);
	keep_part(late, 0, in_use.late);
	keep_part(late, 1, allocated.late);
	keep_part(early, 0, in_use.early);
	keep_part(early, 1, allocated.early);
}
