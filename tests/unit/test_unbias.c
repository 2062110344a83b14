/* The formula: with r = (bytes/objects)/rate, k = 1/(1-exp(-r)) scales both. The constants were
 * computed with 50 decimal digits, outside of this program. */
#include "harness.h"
#include "statistics/scaling.h"

TEST(test_numbers)
{
	static const struct {
		uint64_t rate, objects, bytes;
		double true_objects, true_bytes, within; /* the last relative */
	} cases[] = {
		{ 524288, 1, 524288, 1.5819767068693265, 829411.40369110543, 1e-15 },
		{ 524288, 1000, 524288, 1000500.083333332, 524550187.69066596, 1e-12 },
		{ 524288, 4, 8388608, 4.0746294414550963, 8545117.2824064381, 1e-15 },
		{ 16384, 3, 300, 493.02152587795888, 49302.152587795885, 1e-13 },
		{ 1024, 1092, 1295890, 1591.4459641075139, 1888588.7458125332, 1e-15 },
		{ 131072, 12345, 987654321, 27021.504388047037, 2161839252.2296567, 1e-15 },
		{ 2, 7, 7, 17.790458577757587, 17.790458577757587, 1e-15 },
		{ 524288, 1, 8, 65536.500001271561, 524292.00001017249, 1e-10 },
		{ 1, 10, 1000, 10, 1000, 0 },                         /* every object is sampled */
		{ 524288, 1, UINT64_C(1) << 40, 1, 1099511627776, 0 } /* and here too */
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		double objects, bytes;
		jp_unbias(cases[i].rate, cases[i].objects, cases[i].bytes, &objects, &bytes);
		assert_true(fabs(objects - cases[i].true_objects) <= cases[i].within * cases[i].true_objects);
		assert_true(fabs(bytes - cases[i].true_bytes) <= cases[i].within * cases[i].true_bytes);
	}
}

/* Where there is nothing to divide by, or no sampling, counters stand as they are. */
TEST(test_what_stays)
{
	static const uint64_t cases[][3] = { { 1024, 0, 0 }, { 1024, 0, 1000 }, { 1024, 10, 0 }, { 0, 10, 1000 } };
	for (size_t i = 0; i < jp_count(cases); i++) {
		double objects, bytes;
		jp_unbias(cases[i][0], cases[i][1], cases[i][2], &objects, &bytes);
		assert_true(objects == (double)cases[i][1]);
		assert_true(bytes == (double)cases[i][2]);
	}
}

/* jemalloc takes lg_prof_sample up to 63. k is 1/r then: 2^60 objects of 8 bytes for one seen. */
TEST(test_the_largest_rate)
{
	double objects, bytes;
	jp_unbias(UINT64_C(1) << 63, 1, 8, &objects, &bytes);
	assert_true(isfinite(objects) && isfinite(bytes));
	assert_near(objects, 1.152921504606847e18);
	assert_near(bytes, 9.2233720368547758e18);
}

TEST(test_pairs_are_scaled_apart)
{
	const uint64_t count[JPROF_COUNTERS] = { 524288, 1, 8388608, 4 };
	double value[JPROF_COUNTERS];
	jp_unbias_record(524288, count, value);
	assert_near(value[JPROF_INUSE_OBJECTS], 1.5819767068693265);
	assert_near(value[JPROF_INUSE_SPACE], 829411.40369110543);
	assert_near(value[JPROF_ALLOC_OBJECTS], 4.0746294414550963);
	assert_near(value[JPROF_ALLOC_SPACE], 8545117.2824064381);
}
