#include "statistics/gamma.h"

#include <float.h>
#include <math.h>

static const double tail = 0.025;
static const double z_tail = 1.959963984540054; /* the normal distribution's 97.5 % point */
static const double normal_from = 1e4;          /* from this shape on an expansion is exact to 1e-7 */

static const double newton_close = 1e-9;

enum { most_terms = 100000, most_steps = 200 };

/* ln Gamma(shape + 1) */
static double log_factorial(double shape)
{
	int sign;
	return lgamma_r(shape + 1, &sign);
}

/* Power series of P, good for x below shape + 1. front: x^shape e^-x / Gamma(shape + 1). */
static double series(double shape, double x, double front)
{
	double term = 1, sum = 1;
	for (int i = 1; i < most_terms && term > sum * DBL_EPSILON; i++) {
		term *= x / (shape + i);
		sum += term;
	}
	return sum * front;
}

/* The continued fraction of 1 - P by Lentz's method, good for x above shape + 1. */
static double continued_fraction(double shape, double x, double front)
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
	return h * shape * front;
}

static double p_of_front(double shape, double x, double front)
{
	return x < shape + 1 ? series(shape, x, front) : 1 - continued_fraction(shape, x, front);
}

double jp_gamma_p(double shape, double x)
{
	return x <= 0 ? 0 : p_of_front(shape, x, exp(shape * log(x) - x - log_factorial(shape)));
}

/* Wilson and Hilferty's cube root of the tail; it only has to be near. */
static double near_tail(double shape, double p)
{
	double root = 1 - 1 / (9 * shape) + (p < 0.5 ? -z_tail : z_tail) / (3 * sqrt(shape));
	return root > 0 ? shape * root * root * root : 0;
}

/* Newton's steps, kept between ends that are known to hold the root. The series' first term alone is never
 * too small, which gives the lower end, and is all that counts for a small shape. A step of less than `newton_close` of
 * x leaves an error of that, squared, times less than sqrt(shape). */
double jp_gamma_quantile(double shape, double p)
{
	double factorial = log_factorial(shape), low = exp((log(p) + factorial) / shape), high = INFINITY;
	double x = fmax(low, near_tail(shape, p));
	if (!(x > 0))
		x = (shape + 1) / 2;
	for (int i = 0; i < most_steps && high - low > 4 * DBL_EPSILON * x; i++) {
		double front = exp(shape * log(x) - x - factorial), off = p_of_front(shape, x, front) - p;
		double next = x - off * x / (shape * front);
		if (fabs(next - x) <= newton_close * x)
			return next;
		if (off > 0)
			high = x;
		else
			low = x;
		if (!(next >= low && next < high))
			next = isinf(high) ? 2 * x : low + (high - low) / 2;
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
