#include "base/tenths.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Up to here ten times a double has bits left behind the point. */
static const double most = (double)(UINT64_C(1) << 47);

static size_t put_fixed(char *text, bool negative, uint64_t whole, const char *rest, size_t rest_len)
{
	char digits[20];
	size_t n = 0, len = 0;
	do
		digits[n++] = (char)('0' + whole % 10);
	while (whole /= 10);
	if (negative)
		text[len++] = '-';
	while (n)
		text[len++] = digits[--n];
	for (size_t i = 0; i < rest_len; i++)
		text[len++] = rest[i];
	text[len] = '\0';
	return len;
}

static size_t written(int n, size_t size)
{
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* Ten times the value is 8 v + 2 v, both exact; what their sum loses (Dekker's Fast2Sum) decides where that stands
 * right between two numbers. */
static uint64_t nearest_tenths(double v)
{
	double large = 8 * v, small = 2 * v, sum = large + small, lost = small - (sum - large);
	uint64_t tenths = (uint64_t)sum;
	double over = sum - (double)tenths;
	bool up = over > 0.5 || (over == 0.5 && (lost > 0 || (lost == 0 && tenths % 2)));
	return tenths + up;
}

size_t jp_put_tenths(char *text, size_t size, double value)
{
	if (!(fabs(value) < most))
		return written(snprintf(text, size, "%.1f", value), size);
	uint64_t tenths = nearest_tenths(fabs(value));
	const char rest[] = { '.', (char)('0' + tenths % 10) };
	return put_fixed(text, signbit(value), tenths / 10, rest, sizeof rest);
}

size_t jp_put_whole(char *text, size_t size, double value)
{
	if (!(fabs(value) < most))
		return written(snprintf(text, size, "%.0f", trunc(value) + 0.0), size);
	uint64_t whole = (uint64_t)fabs(value);
	return put_fixed(text, value < 0 && whole, whole, "", 0);
}
