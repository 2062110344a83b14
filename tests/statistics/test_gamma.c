/* The numeric routines against printed tables. */

#include "testing.h"

#include "statistics/gamma.h"

/* Chi-square values that are exceeded with probability 0.975 and 0.025: NIST/SEMATECH e-Handbook of
 * Statistical Methods, 1.3.6.7.4, three decimals. */
static const struct {
	int freedom;
	double low, high;
} chi_square[] = {
	{ 1, 0.001, 5.024 },    { 2, 0.051, 7.378 },    { 3, 0.216, 9.348 },     { 4, 0.484, 11.143 },
	{ 5, 0.831, 12.833 },   { 10, 3.247, 20.483 },  { 15, 6.262, 27.488 },   { 20, 9.591, 34.170 },
	{ 30, 16.791, 46.979 }, { 50, 32.357, 71.420 }, { 80, 57.153, 106.629 }, { 100, 74.222, 129.561 },
};

TEST(test_chi_square)
{
	for (size_t i = 0; i < sizeof chi_square / sizeof *chi_square; i++) {
		double shape = chi_square[i].freedom / 2.0;
		assert_true(fabs(2 * jp_gamma_quantile(shape, 0.025) - chi_square[i].low) <= 0.00051);
		assert_true(fabs(2 * jp_gamma_quantile(shape, 0.975) - chi_square[i].high) <= 0.00051);
	}
}

/* 95 % confidence limits of a Poisson count: Garwood, Biometrika 28 (1936); the same in Pearson and
 * Hartley, Biometrika Tables for Statisticians I, table 40. */
static const struct {
	int count;
	double low, high;
} poisson[] = {
	{ 0, 0, 3.69 },       { 1, 0.0253, 5.57 },  { 2, 0.242, 7.22 },   { 3, 0.619, 8.77 },   { 4, 1.09, 10.24 },
	{ 5, 1.62, 11.67 },   { 6, 2.20, 13.06 },   { 8, 3.45, 15.76 },   { 10, 4.80, 18.39 },  { 15, 8.40, 24.74 },
	{ 20, 12.22, 30.89 }, { 30, 20.24, 42.83 }, { 40, 28.58, 54.47 }, { 50, 37.11, 65.92 },
};

/* A number of the table is right to its last printed place. */
static void assert_printed(double value, double printed)
{
	assert_true(fabs(value - printed) <= (printed < 0.1 ? 0.000051 : printed < 1 ? 0.00051 : 0.0051));
}

TEST(test_poisson)
{
	for (size_t i = 0; i < sizeof poisson / sizeof *poisson; i++) {
		double n = poisson[i].count;
		if (n > 0)
			assert_printed(n + sqrt(n) * jp_gamma_lower(n), poisson[i].low);
		assert_printed(n + 1 + sqrt(n + 1) * jp_gamma_upper(n + 1), poisson[i].high);
	}
}

/* Closed forms: shape 1 is the exponential distribution, shape 1/2 the square of a normal one, and a whole
 * shape a sum of Poisson probabilities. */
TEST(test_closed_forms)
{
	for (double x = 1e-6; x < 50; x *= 3) {
		assert_true(fabs(jp_gamma_p(1, x) / -expm1(-x) - 1) < 1e-13);
		assert_true(fabs(jp_gamma_p(0.5, x) / erf(sqrt(x)) - 1) < 1e-13);
		double poisson_sum = exp(-x) * (1 + x * (1 + x / 2 * (1 + x / 3)));
		assert_true(fabs(1 - jp_gamma_p(4, x) - poisson_sum) < 1e-14);
	}
	assert_true(jp_gamma_p(3, 0) == 0);
}

TEST(test_there_and_back)
{
	static const double shapes[] = { 0.02, 0.3, 1, 1.5, 7, 60, 900, 9999 };
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		assert_true(fabs(jp_gamma_p(shapes[i], jp_gamma_quantile(shapes[i], 0.025)) - 0.025) < 1e-10);
		assert_true(fabs(jp_gamma_p(shapes[i], jp_gamma_quantile(shapes[i], 0.975)) - 0.975) < 1e-10);
	}
}

/* Where the expansion takes over nothing jumps, and in the end it is the normal distribution. */
TEST(test_large_shapes)
{
	assert_true(fabs(jp_gamma_lower(9999.999) - jp_gamma_lower(10000)) < 1e-7);
	assert_true(fabs(jp_gamma_upper(9999.999) - jp_gamma_upper(10000)) < 1e-7);
	assert_true(fabs(jp_gamma_upper(1e12) - 1.959964) < 2e-6);
	assert_true(fabs(jp_gamma_lower(1e12) + 1.959964) < 2e-6);
}
