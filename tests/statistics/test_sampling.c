/* What printed counters tell: sizes, numbers of samples, variances. */

#include "testing.h"

#include "sampler.h"
#include "statistics/sampling.h"

/* jemalloc's size classes, as the table in jemalloc(3) lists them. */
static uint64_t next_class(uint64_t size)
{
	uint64_t group = 128;
	if (size < 16)
		return 16;
	if (size < 128)
		return size + 16;
	while (group * 2 <= size)
		group *= 2;
	return size + group / 4;
}

static double chance(double rate, double size)
{
	return 1 - exp(-size / rate);
}

static double estimate(double rate, const uint64_t count[2])
{
	return (double)count[0] / chance(rate, (double)count[1] / (double)count[0]);
}

static bool nearly(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

/* Every size class, printed as 5.3 does: the number of samples comes out, and so does the number of objects that
 * the rounding hides. */
TEST(test_one_size)
{
	for (int lg = 9; lg <= 19; lg += 2)
		for (uint64_t size = 8; size < 20 << 20; size = next_class(size))
			for (uint64_t k = 1; k < 20000; k = 3 * k + 1) {
				uint64_t count[2], rate = 1ull << lg;
				struct tally t = { 0 };
				tally_add(&t, rate, size, k);
				tally_print(&t, rate, true, count);
				struct jp_sampling s = jp_sampling_of(rate, count);
				double p = chance((double)rate, (double)size), n = (double)k;
				assert_true(s.n == n);
				assert_true(nearly(estimate((double)rate, count) + s.shift[0], n / p));
				assert_true(nearly(s.variance[0], n * (1 - p) / p / p));
				assert_true(nearly(s.variance[1], s.variance[0] * (double)(size * size)));
			}
}

/* As 4.x prints them, in any size: nothing is rounded, nothing is shifted. */
TEST(test_plain_counters)
{
	const uint64_t count[] = { 7, 7 * 1000 };
	struct jp_sampling s = jp_sampling_of(1 << 19, count);
	double p = chance(1 << 19, 1000);
	assert_true(s.n == 7 && s.shift[0] == 0 && s.shift[1] == 0);
	assert_true(nearly(s.variance[1], 7 * 1e6 * (1 - p) / p / p));
	assert_true(nearly(s.worth[1], 1000 / p) && nearly(s.open, 1 - p));
}

/* What is sampled for certain has no error; what cannot be scaled has none that is known. */
TEST(test_no_variance)
{
	const uint64_t large[] = { 3, 3ull << 30 }, odd[] = { 5, 0 }, none[] = { 0, 0 };
	assert_true(jp_sampling_of(512, large).variance[1] < 1e-9);
	assert_true(jp_sampling_of(512, odd).n == 5 && jp_sampling_of(512, odd).variance[0] == 0);
	assert_true(jp_sampling_of(0, large).variance[1] == 0);
	assert_true(jp_sampling_of(512, none).n == 0);
}

/* Whatever two sizes were sampled how often: the variance that they have is not above the bound. */
TEST(test_two_sizes)
{
	const double rate = 1 << 19;
	for (uint64_t a = 16; a < 1 << 24; a *= 4)
		for (uint64_t b = 4 * a; b < 1 << 24; b *= 4)
			for (uint64_t n = 1; n < 5000; n *= 7)
				for (uint64_t m = 1; m < 5000; m *= 7) {
					uint64_t count[2];
					struct tally t = { 0 };
					tally_add(&t, 1 << 19, a, n);
					tally_add(&t, 1 << 19, b, m);
					tally_print(&t, 1 << 19, true, count);
					if (count[1] % count[0] == 0) /* looks like one size */
						continue;
					struct jp_sampling s = jp_sampling_of(1 << 19, count);
					double p = chance(rate, (double)a), q = chance(rate, (double)b);
					double va = (double)n * (1 - p) / p / p, vb = (double)m * (1 - q) / q / q;
					assert_true(s.variance[0] >= va + vb);
					/* Eighths of objects may take half a percent away. */
					assert_true(s.variance[1] >=
					            0.995 * (va * (double)(a * a) + vb * (double)(b * b)));
				}
}

/* Counters that no allocator prints. */
TEST(test_absurd)
{
	const uint64_t most = INT64_MAX, cases[][2] = { { most, 1 },        { 1, most }, { most, most },
		                                        { most, most - 1 }, { 3, most }, { most - 1, 5 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int lg = 0; lg < 64; lg += 9) {
			struct jp_sampling s = jp_sampling_of(1ull << lg, cases[i]);
			assert_true(s.n > 0 && s.variance[0] >= 0 && s.variance[1] >= 0);
		}
}
