/* The gamma distribution, which intervals for small counts are made of: docs/internals/statistics.md. */
#pragma once

/* The probability that a gamma variable of this shape (above 0) and scale 1 is at most x: the
 * regularized lower incomplete gamma function. Good to 10 digits up to shape 1e4. */
double jp_gamma_p(double shape, double x);

/* The x for which jp_gamma_p is `p`, 0 < p < 1. Half the chi-square quantile of 2 * shape degrees
 * of freedom. */
double jp_gamma_quantile(double shape, double p);

/* Where the outer 2.5 % of a gamma distribution begin, counted in standard deviations from its
 * mean: about -1.96 (lower) and 1.96 (upper) for a large shape. */
double jp_gamma_lower(double shape);
double jp_gamma_upper(double shape);
