/* The agent's distances are exponential: their mean, variance and the part that ends within some bytes, at five
 * standard errors; and chance_of() beside the mathematics of libm. */
#include <math.h>
#include <stdio.h>

#include "ruby/chance.h"

enum { DRAWS = 1000000 };

static int failed;

static void expect(const char *what, double got, double want, double error)
{
	if (fabs(got - want) <= error)
		return;
	printf("%s: %.9g, not %.9g\n", what, got, want);
	failed = 1;
}

int main(void)
{
	const double mean = 131072, sizes[] = { 56, 656, 5000, 131072, 500000 };
	double sum = 0, squares = 0, within[5] = { 0 };
	uint64_t state = 42;
	for (int i = 0; i < DRAWS; i++) {
		double x = chance_draw(&state, mean) / mean;
		sum += x;
		squares += x * x;
		for (int k = 0; k < 5; k++)
			within[k] += x * mean <= sizes[k];
	}
	expect("mean", sum / DRAWS, 1, 5 / sqrt(DRAWS));
	expect("mean of squares", squares / DRAWS, 2, 5 * sqrt(20.0 / DRAWS));
	for (int k = 0; k < 5; k++) {
		double p = -expm1(-sizes[k] / mean);
		expect("part within", within[k] / DRAWS, p, 5 * sqrt(p * (1 - p) / DRAWS));
	}
	for (double x = 1e-9; x < 1e3; x *= 1.1)
		expect("chance_of, relative", chance_of(x * mean, mean) / -expm1(-x), 1, 1e-9);
	puts(failed ? "wrong" : "as exponential distances are");
	return failed;
}
