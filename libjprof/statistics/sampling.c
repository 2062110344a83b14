#include "statistics/sampling.h"

#include <math.h>
#include <stdbool.h>

static const double count_shift = 8;         /* in its 5.3, sums of objects are kept as eighths */
static const double worst_size = 1.5936;     /* in rates: objects of this size vary most; 2(1-exp(-x)) = x */
static const double worst_variance = 0.6476; /* in rates squared: theirs, for one object that exists */

/* The rounding of stacks of several sizes and few samples has a bias, which depends on the sizes: over all pairs of
 * sizes, and from one to twenty samples a stack, at most this part of the bytes, and from some 7 on this over n. */
static const double most_bias = 0.045, bias_of_n = 0.3;

static double chance(double rate, double size)
{
	return -expm1(-size / rate);
}

uint64_t jp_size_class_above(uint64_t size)
{
	uint64_t step = size < 8 ? 8 : 16;
	while (size >= 8 * step)
		step *= 2;
	return (size / step + 1) * step;
}

/* One sampled object of this size, as 5.3 prints it: the objects and bytes that its reader's formula
 * turns into what jemalloc has counted, which is in whole bytes and eighths of objects. */
static void print_one(double rate, double size, double *objects, double *bytes)
{
	double p = chance(rate, size), mean = round(size / p) / (round(count_shift / p) / count_shift);
	*bytes = round(size / p) * chance(rate, mean);
	*objects = *bytes / mean;
}

/* Whether a whole number of such objects is printed as `count`. */
static bool counters_fit(double rate, double size, const uint64_t count[2], double *n)
{
	double objects, bytes;
	print_one(rate, size, &objects, &bytes);
	*n = round((double)count[1] / bytes);
	double allowed = 0.5 + 1e-6;
	return *n > 0 && fabs(*n * bytes - (double)count[1]) <= allowed + 1e-9 * (double)count[1] &&
	       fabs(*n * objects - (double)count[0]) <= allowed;
}

/* The size class of which a number of objects is printed as `count`, and that number; 0: none. */
static double rounded_size(double rate, const uint64_t count[2], double *n)
{
	double mean = (double)count[1] / (double)count[0];
	/* Eighths move the mean by a sixteenth at most, whole counters by half an object and half a byte. */
	double slack = 1 + 1.0 / 16 + 0.6 / (double)count[0] + 0.6 / (double)count[1];
	double least = mean / slack - 1;
	if (mean >= 0x1p60)
		return 0;
	for (uint64_t size = jp_size_class_above(least > 0 ? (uint64_t)least : 0); (double)size <= mean * slack;
	     size = jp_size_class_above(size))
		if (counters_fit(rate, (double)size, count, n))
			return (double)size;
	return 0;
}

/* The size that all objects have, and their number; 0 if they differ. */
static double size_of_all(double rate, const uint64_t count[2], double *n)
{
	uint64_t size = count[1] % count[0] ? 0 : count[1] / count[0];
	double rounded = size && jp_size_class_above(size - 1) == size ? 0 : rounded_size(rate, count, n);
	if (rounded > 0)
		return rounded;
	*n = (double)count[0];
	return (double)size;
}

static struct jp_sampling of_one_size(double rate, double n, double size, const uint64_t count[2])
{
	double p = chance(rate, size);
	struct jp_sampling s = { .n = n, .worth = { 1 / p, size / p }, .open = 1 - p };
	double mean = (double)count[1] / (double)count[0], shown = chance(rate, mean);
	s.variance[0] = n * (1 - p) / (p * p);
	s.variance[1] = s.variance[0] * size * size;
	if (mean != size) {
		s.shift[0] = n / p - (double)count[0] / shown;
		s.shift[1] = n * size / p - (double)count[1] / shown;
	}
	return s;
}

static double square(double x)
{
	return x * x;
}

static struct jp_sampling of_several_sizes(double rate, const uint64_t count[2])
{
	struct jp_sampling s = { .n = (double)count[0], .open = 1 };
	double mean = (double)count[1] / s.n, x = mean / rate, p = chance(rate, mean);
	double objects = s.n / p, bytes = (double)count[1] / p, kept = (1 - p) / p;
	double rounded = objects < bytes / rate ? objects : bytes / rate;
	s.variance[0] = objects * rate / jp_least_size + square(rounded / (2 * count_shift)) +
	                square(objects / s.n * (1 + x * kept)) / 12;
	s.variance[1] = x < worst_size ? bytes * mean * kept : objects * worst_variance * square(rate);
	s.variance[1] += square(bytes / s.n * x * kept) / 12;
	s.rounding = bytes * fmin(most_bias, bias_of_n / s.n);
	s.worth[0] = fmax(sqrt(s.variance[0] / s.n), s.variance[0] / objects);
	s.worth[1] = fmax(sqrt(s.variance[1] / s.n), s.variance[1] / bytes);
	return s;
}

struct jp_sampling jp_sampling_of(uint64_t rate, const uint64_t count[2])
{
	double n;
	if (!count[0] || !count[1] || !rate)
		return (struct jp_sampling){ .n = (double)count[0] };
	double size = size_of_all((double)rate, count, &n);
	return size > 0 ? of_one_size((double)rate, n, size, count) : of_several_sizes((double)rate, count);
}

double jp_sampled_about(double rate, double bytes, double objects)
{
	return bytes > 0 && objects > 0 && rate > 0 ? objects * chance(rate, bytes / objects) : 0;
}
