/* Text in CSV: RFC 4180, UTF-8, no control characters, and nothing that a spreadsheet would calculate. */
#include "harness.h"

TEST(test_public_csv)
{
	static const struct {
		const char *text, *csv;
	} cases[] = {
		{ "plain, and more", "\"plain, and more\"" },
		{ "", "\"\"" },
		{ NULL, "\"\"" },
		{ "q\"b\\", "\"q\"\"b\\\"" },
		{ "=1+1", "\"'=1+1\"" },
		{ "+1", "\"'+1\"" },
		{ "-1", "\"'-1\"" },
		{ "@x", "\"'@x\"" },
		{ "a=b", "\"a=b\"" },
		{ "a\n\x1b[2J\x7f", "\"a\\x0a\\x1b[2J\\x7f\"" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"" },
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char *out = jprof_csv_text(cases[i].text);
		assert_non_null(out);
		wrong += strcmp(out, cases[i].csv) ? complain("case %zu: %s", i, out) : 0;
		free(out);
	}
	assert_int_equal(wrong, 0);
}
