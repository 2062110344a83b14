#include "ops/related.h"

#include <float.h>
#include <math.h>

bool jp_related(const struct jprof_profile *to, const struct jprof_profile *from, const uint32_t *object)
{
	size_t same = 0, moved = 0;
	for (size_t i = 0; i < from->mapping_count; i++) {
		const struct jp_mapping *m = &from->mappings[i];
		bool mapped = false, there = false;
		for (size_t k = 0; k < to->mapping_count && !there; k++) {
			if (to->mappings[k].object != object[m->object])
				continue;
			mapped = true;
			there = to->mappings[k].map.start == m->map.start;
		}
		same += there;
		moved += mapped && !there;
	}
	return same >= moved;
}

/* The standard errors add up, as if each sampled object were worth what it is in both. */
static void seen_join(struct jp_seen *to, const struct jp_seen *from, double factor)
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

static bool has_samples(const struct jp_seen *seen)
{
	return seen->n[0] > 0 || seen->n[1] > 0;
}

void jp_sample_join(struct jp_sample *to, const struct jp_sample *like, double factor, struct jp_lineage *lineage)
{
	jp_sample_add_values(to, like, factor);
	lineage->shared_sum |= has_samples(&to->plus) && has_samples(&like->plus);
	seen_join(&to->plus, &like->plus, factor);
	seen_join(&to->minus, &like->minus, factor);
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
static void keep(struct jp_seen *seen, int pair, double part)
{
	double whole = seen->n[pair];
	seen->n[pair] = part;
	for (int c = 2 * pair; c < 2 * pair + 2; c++)
		seen->variance[c] *= whole > 0 ? part / whole : 0;
}

static bool is_equal(const struct jp_sample *a, const struct jp_sample *b, int pair)
{
	int objects = 2 * pair, bytes = objects + 1;
	return a->plus.n[pair] == b->plus.n[pair] && a->value[objects] == b->value[objects] &&
	       a->value[bytes] == b->value[bytes];
}

void jp_sample_cancel(struct jp_sample *to, const struct jp_sample *like, struct jp_lineage *lineage)
{
	struct jp_seen gone = like->plus;
	struct apart in_use = in_use_apart(&to->plus, &gone, is_equal(to, like, 0), lineage);
	struct apart allocated = allocated_apart(&to->plus, &gone, is_equal(to, like, 1));
	keep(&to->plus, 0, in_use.late);
	keep(&to->plus, 1, allocated.late);
	keep(&gone, 0, in_use.early);
	keep(&gone, 1, allocated.early);
	jp_seen_add(&to->minus, &gone, -1);
	jp_seen_add(&to->plus, &like->minus, -1);
	jp_sample_add_values(to, like, -1);
}
