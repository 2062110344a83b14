/* What a pair of printed counters, objects and bytes of one stack, tells of the sampling behind
 * it: how many objects were sampled and how far the estimates may be off. docs/internals/statistics.md has
 * the method; the names there are those here. */
#pragma once

#include <stdint.h>

enum { jp_least_size = 8 }; /* bytes: jemalloc's smallest size class */

/* The smallest of jemalloc's size classes that is larger than so many bytes: 8, multiples of 16 to 128, then four to
 * each doubling. */
uint64_t jp_size_class_above(uint64_t size);

struct jp_sampling {
	double n;           /* sampled objects */
	double variance[2]; /* of the estimated objects and bytes */
	double worth[2];    /* what one sampled object stands for */
	double open;        /* the chance that an object of this stack is not sampled */
	double shift[2];    /* what undoes the rounding of the counters, when added to the estimates */
	double rounding;    /* bytes by which the rounding may be off in a way that stacks of one place share */
};

/* `rate` is the mean number of bytes between two samples, `count` objects and bytes as printed.
 * Without a rate, objects or bytes there is no variance.
 *
 * Where the counters are those of objects of one size, printed as they were or as jemalloc 5.3
 * prints them, all is exact. Otherwise the objects differ in size, and the variances are upper
 * bounds for whatever sizes make these counters. */
struct jp_sampling jp_sampling_of(uint64_t rate, const uint64_t count[2]);

/* About how many sampled objects so many bytes in so many objects are of: as many as if all had their mean size. 0
 * where there are none. */
double jp_sampled_about(double rate, double bytes, double objects);
