#include "statistics/gamma.h"

#include <float.h>
#include <math.h>

static const double tail = 0.025;
static const double z_tail = 1.959963984540054; /* the normal distribution's 97.5 % point */
static const double normal_from = 1e4;          /* from this shape on an expansion is exact to 1e-7 */

enum { most_terms = 100000, most_steps = 200 };

/* x^shape e^-x / Gamma(shape + 1) */
static double front(double shape, double x)
{
	int sign;
	return exp(shape * log(x) - x - lgamma_r(shape + 1, &sign));
}

/* Power series of P, good for x below shape + 1. */
static double series(double shape, double x)
{
	double term = 1, sum = 1;
	for (int i = 1; i < most_terms && term > sum * DBL_EPSILON; i++) {
		term *= x / (shape + i);
		sum += term;
	}
	return sum * front(shape, x);
}

/* The continued fraction of 1 - P by Lentz's method, good for x above shape + 1. */
static double continued_fraction(double shape, double x)
{
	double b = x + 1 - shape, c = 1 / DBL_MIN, d = 1 / b, h = d, step = 0;
	for (int i = 1; i < most_terms && fabs(step - 1) > DBL_EPSILON; i++) {
		double a = -i * (i - shape);
		b += 2;
		d = 1 / (a * d + b);
		c = b + a / c;
		step = c * d;
		h *= step;
	}
	return h * shape * front(shape, x);
}

double jp_gamma_p(double shape, double x)
{
	if (x <= 0)
		return 0;
	return x < shape + 1 ? series(shape, x) : 1 - continued_fraction(shape, x);
}

/* Newton's steps, kept between ends that are known to hold the root. The series' first term alone is never
 * too small, which gives the lower end, and is all that counts for a small shape. */
double jp_gamma_quantile(double shape, double p)
{
	int sign;
	double low = exp((log(p) + lgamma_r(shape + 1, &sign)) / shape), high = shape + 1;
	while (jp_gamma_p(shape, high) < p)
		high *= 2;
	double x = shape < 1 && low > 0 ? low : high / 2;
	for (int i = 0; i < most_steps && high - low > 4 * DBL_EPSILON * high; i++) {
		double off = jp_gamma_p(shape, x) - p, slope = shape * front(shape, x) / x;
		if (off > 0)
			high = x;
		else
			low = x;
		double next = x - off / slope;
		if (!(next >= low && next < high))
			next = low + (high - low) / 2;
		if (fabs(next - x) <= 2 * DBL_EPSILON * x)
			return next;
		x = next;
	}
	return x;
}

/* Cornish and Fisher's expansion by the skewness 2/sqrt(shape). */
static double expansion(double shape, double z)
{
	double g = 2 / sqrt(shape);
	return z + g * (z * z - 1) / 6 + g * g * (z * z * z - 7 * z) / 144;
}

double jp_gamma_lower(double shape)
{
	if (shape >= normal_from)
		return expansion(shape, -z_tail);
	return (jp_gamma_quantile(shape, tail) - shape) / sqrt(shape);
}

double jp_gamma_upper(double shape)
{
	if (shape >= normal_from)
		return expansion(shape, z_tail);
	return (jp_gamma_quantile(shape, 1 - tail) - shape) / sqrt(shape);
}
