/* Which bytes are characters: the table of RFC 3629, section 4, and beside its ends. */
#include "base/utf8.h"
#include "harness.h"

static const struct {
	const char *bytes;
	size_t len;
} cases[] = {
	{ "a", 1 },
	{ "\x01", 1 },
	{ "\x7f", 1 },
	{ "\x80", 0 },
	{ "\xbf", 0 },
	{ "\xc0\x80", 0 },
	{ "\xc1\xbf", 0 },
	{ "\xc2\x80", 2 },
	{ "\xc2", 0 },
	{ "\xc2\x7f", 0 },
	{ "\xc2\xc0", 0 },
	{ "\xdf\xbf", 2 },
	{ "\xe0\x9f\xbf", 0 },
	{ "\xe0\xa0\x80", 3 },
	{ "\xe2\x82\xac and more", 3 },
	{ "\xe2\x82", 0 },
	{ "\xe2\x82z", 0 },
	{ "\xed\x9f\xbf", 3 },
	{ "\xed\xa0\x80", 0 }, /* a surrogate */
	{ "\xef\xbf\xbf", 3 },
	{ "\xf0\x8f\xbf\xbf", 0 },
	{ "\xf0\x90\x80\x80", 4 },
	{ "\xf4\x8f\xbf\xbf", 4 },
	{ "\xf4\x90\x80\x80", 0 },
	{ "\xf5\x80\x80\x80", 0 },
	{ "\xff", 0 },
};

TEST(test_table)
{
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++)
		if (jp_utf8_len(cases[i].bytes) != cases[i].len)
			wrong += complain("case %zu: %zu, not %zu", i, jp_utf8_len(cases[i].bytes), cases[i].len);
	assert_int_equal(wrong, 0);
}

/* Each byte at each place. */
TEST(test_ascii_runs)
{
	int wrong = 0;
	for (size_t at = 0; at < 20; at++)
		for (int byte = 0; byte < 256; byte++) {
			char text[] = "a name of 20 letters";
			text[at] = (char)byte;
			size_t run = byte >= 0x20 && byte < 0x7f ? 20 : at;
			if (jp_ascii_run(text, 20) != run)
				wrong += complain("%d at %zu: %zu", byte, at, jp_ascii_run(text, 20));
		}
	assert_int_equal(jp_ascii_run("", 0), 0);
	assert_int_equal(wrong, 0);
}
