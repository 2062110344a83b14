#include "statistics/scaling.h"

#include <math.h>

/* With r = mean size / rate, an object of mean size is sampled with probability 1 - exp(-r)
 * (jemalloc's prof.c draws the distance between samples from a geometric distribution; the same
 * formula stands in jeprof's AdjustSamples). Where r is too small for a double to tell, it is r. */
static double poisson(uint64_t rate, double objects, double bytes)
{
	double r = (bytes / objects) / (double)rate, p = 1 - exp(-r);
	return p > 0 ? p : r;
}

void jp_unbias(uint64_t rate, uint64_t objects, uint64_t bytes, double *true_objects, double *true_bytes)
{
	double n = (double)objects, s = (double)bytes, k = 1;
	if (objects && bytes && rate)
		k = 1 / poisson(rate, n, s);
	*true_objects = n * k;
	*true_bytes = s * k;
}

void jp_unbias_record(uint64_t rate, const uint64_t count[JPROF_COUNTERS], double value[JPROF_COUNTERS])
{
	jp_unbias(rate, count[JPROF_INUSE_OBJECTS], count[JPROF_INUSE_SPACE], &value[JPROF_INUSE_OBJECTS],
	          &value[JPROF_INUSE_SPACE]);
	jp_unbias(rate, count[JPROF_ALLOC_OBJECTS], count[JPROF_ALLOC_SPACE], &value[JPROF_ALLOC_OBJECTS],
	          &value[JPROF_ALLOC_SPACE]);
}

/* The probability with which a pair's objects were sampled in steps of half a rate. */
static double linear(uint64_t rate, uint64_t objects, uint64_t bytes)
{
	double p = objects && bytes && rate ? ((double)bytes / (double)objects) / ((double)rate / 2) : 1;
	return p < 1 ? p : 1;
}

void jp_scale_record(enum jp_scaling scaling, uint64_t rate, const uint64_t count[JPROF_COUNTERS],
                     double value[JPROF_COUNTERS])
{
	if (scaling == JP_SCALE_POISSON) {
		jp_unbias_record(rate, count, value);
		return;
	}
	for (unsigned c = 0; c < JPROF_COUNTERS; c++) {
		double p =
		    scaling == JP_SCALE_LINEAR ? linear(rate, count[jp_objects_of(c)], count[jp_bytes_of(c)]) : 1;
		value[c] = (double)count[c] / p;
	}
}
