#include "ruby/chance.h"

#include <string.h>

/* xorshift64*: of its product the upper bits are used. In (0, 1). */
static double uniform(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return ((double)(x * 0x2545f4914f6cdd1du >> 12) + 0.5) * 0x1p-52;
}

/* The natural logarithm of a number in (0, 1), without a library of mathematics: of 2^e * m by 2 artanh((m - 1) / (m +
 * 1)), whose argument is below 0.172. */
static double logarithm(double number)
{
	const double ln2 = 0.69314718055994530942;
	uint64_t bits;
	double m, sum = 0;
	memcpy(&bits, &number, sizeof bits);
	int e = (int)(bits >> 52 & 0x7ff) - 1022;
	bits = (bits & 0xfffffffffffffu) | (uint64_t)1022 << 52;
	memcpy(&m, &bits, sizeof m); /* 0.5 <= m < 1 */
	if (m < 0.70710678118654752440) {
		m *= 2;
		e--;
	}
	double t = (m - 1) / (m + 1);
	for (int k = 21; k > 0; k -= 2)
		sum = sum * t * t + 1.0 / k;
	return e * ln2 + 2 * t * sum;
}

double chance_draw(uint64_t *state, double mean)
{
	return -logarithm(uniform(state)) * mean;
}

/* By the series of 1 - exp(-x) for a small x, and (1 - exp(-x))(1 + exp(-x)) = 1 - exp(-2x). */
double chance_of(double size, double mean)
{
	double x = size / mean, sum = 0;
	int doublings = 0;
	if (x > 40)
		return 1;
	for (; x > 0.1; x /= 2)
		doublings++;
	for (int k = 10; k > 0; k--)
		sum = (1 - sum) * x / k;
	for (; doublings > 0; doublings--)
		sum = sum * (2 - sum);
	return sum;
}
