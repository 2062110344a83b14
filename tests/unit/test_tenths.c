/* Numbers with one place, beside printf's. */
#include "base/strbuf.h"
#include "base/tenths.h"

#include "harness.h"

static unsigned wrong;

static void compare(double value)
{
	char ours[400], theirs[400];
	size_t len = jp_put_tenths(ours, sizeof ours, value);
	snprintf(theirs, sizeof theirs, "%.1f", value);
	if (strcmp(ours, theirs) != 0 || len != strlen(theirs))
		wrong += complain("%a: %s, not %s", value, ours, theirs);
	jp_put_whole(ours, sizeof ours, value);
	snprintf(theirs, sizeof theirs, "%.0f", trunc(value) + 0.0);
	if (strcmp(ours, theirs) != 0)
		wrong += complain("%a: %s, not %s", value, ours, theirs);
}

/* Halves, quarters and twentieths stand between two numbers, or as near as a double comes to that. */
TEST(test_borders)
{
	static const double steps[] = { 0.05, 0.25, 0.5, 0.1, 1.0 / 1048576, 1e9 + 0.05, 140737488355328.0 / 32 };
	static const double others[] = { 0.0, 0x1p-1074, 0x1p47, 0x1p52, 0x1p53 + 2, 1e300, INFINITY };
	for (size_t s = 0; s < jp_count(steps); s++)
		for (int i = -4000; i <= 4000; i++) {
			compare(i * steps[s]);
			compare(nextafter(i * steps[s], INFINITY));
			compare(nextafter(i * steps[s], -INFINITY));
		}
	for (size_t i = 0; i < jp_count(others); i++) {
		compare(others[i]);
		compare(-others[i]);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_any)
{
	uint64_t bits = 1;
	for (int i = 0; i < 100000; i++) {
		bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
		double value = (double)(int64_t)bits;
		compare(ldexp(value, -(int)(bits >> 32 & 127)));
	}
	assert_int_equal(wrong, 0);
}

TEST(test_room)
{
	char text[jp_tenths_size];
	assert_int_equal(jp_put_tenths(text, sizeof text, 1e300), jp_tenths_size - 1);
	assert_int_equal(strlen(text), jp_tenths_size - 1);
}

/* In a buffer that has to grow for each of them, too. */
TEST(test_buffer)
{
	struct jp_strbuf buf = { 0 };
	char theirs[2000] = "";
	for (double value = 0.75; value < 1e17; value *= -7) {
		jp_strbuf_whole(&buf, value);
		snprintf(theirs + strlen(theirs), sizeof theirs - strlen(theirs), "%.0f", trunc(value) + 0.0);
	}
	assert_false(buf.failed);
	assert_string_equal(buf.text, theirs);
	assert_int_equal(buf.len, strlen(theirs));
	jp_strbuf_release(&buf);
}
