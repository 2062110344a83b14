#include "base/error.h"
#include "harness.h"

#include <limits.h>

TEST(test_fields)
{
	struct jprof_error err = { .column = 3 };
	assert_int_equal(jp_error(&err, JPROF_E_FORMAT, "a b.heap", 7, "%s is %d", "x", 5), JPROF_E_FORMAT);
	assert_int_equal(err.code, JPROF_E_FORMAT);
	assert_int_equal(err.line, 7);
	assert_string_equal(err.path, "a b.heap");
	assert_string_equal(err.text, "x is 5");
	assert_int_equal(jp_error(&err, JPROF_E_IO, NULL, 0, "gone"), JPROF_E_IO);
	assert_string_equal(err.path, "");
	assert_int_equal(err.line, 0);
	assert_string_equal(err.text, "gone");
}

TEST(test_one_line)
{
	struct jprof_error err = { 0 };
	char line[JPROF_ERROR_LINE], few[8];
	jp_error(&err, JPROF_E_IO, NULL, 0, "gone");
	assert_string_equal(jprof_error_line(&err, line, sizeof line), "gone");
	jp_error(&err, JPROF_E_IO, "a.heap", 0, "gone");
	assert_string_equal(jprof_error_line(&err, line, sizeof line), "a.heap: gone");
	jp_error(&err, JPROF_E_IO, "a.heap", 7, "odd");
	assert_string_equal(jprof_error_line(&err, line, sizeof line), "a.heap:7: odd");
	err.column = 3;
	assert_string_equal(jprof_error_line(&err, line, sizeof line), "a.heap:7:3: odd");
	assert_string_equal(jprof_error_line(&err, few, sizeof few), "a.heap:");
	memset(err.path, 'p', sizeof err.path - 1);
	memset(err.text, 't', sizeof err.text - 1);
	err.line = err.column = UINT_MAX;
	assert_int_equal(strlen(jprof_error_line(&err, line, sizeof line)), 2 * 511 + 2 * 11 + 2);
}

/* What the last error advised says nothing of the next. */
TEST(test_advice)
{
	struct jprof_error err = { .column = 9 };
	assert_int_equal(jp_advise(&err, JPROF_ADVICE_MAPS, jp_error(&err, JPROF_E_IO, NULL, 0, "gone")), JPROF_E_IO);
	assert_int_equal(err.advice, JPROF_ADVICE_MAPS);
	assert_int_equal(err.column, 0);
	jp_error(&err, JPROF_E_IO, NULL, 0, "gone");
	assert_int_equal(err.advice, JPROF_ADVICE_NONE);
	assert_int_equal(jp_advise(NULL, JPROF_ADVICE_MAPS, JPROF_E_IO), JPROF_E_IO);
}

TEST(test_nobody_asks)
{
	assert_int_equal(jp_error(NULL, JPROF_E_WRITE, "p", 1, "%s", "t"), JPROF_E_WRITE);
	assert_int_equal(jp_error_nomem(NULL), JPROF_E_NOMEM);
}

TEST(test_nomem)
{
	struct jprof_error err = { 0 };
	assert_int_equal(jp_error_nomem(&err), JPROF_E_NOMEM);
	assert_int_equal(err.code, JPROF_E_NOMEM);
	assert_is_message(err.text);
}

TEST(test_control_characters_are_shown)
{
	struct jprof_error err = { 0 };
	jp_error(&err, JPROF_E_IO, "two\nlines\033", 0, "say \"%s\"", "\a\r");
	assert_string_equal(err.path, "two\\x0alines\\x1b");
	assert_string_equal(err.text, "say \"\\x07\\x0d\"");
}

TEST(test_long_texts_are_cut)
{
	struct jprof_error err = { 0 };
	char text[2000];
	for (int c = '\n'; c <= 'x'; c += 'x' - '\n') {
		memset(text, c, sizeof text - 1);
		text[sizeof text - 1] = '\0';
		jp_error(&err, JPROF_E_IO, text, 0, "%s", text);
		size_t most = c == 'x' ? sizeof err.path - 1 : (sizeof err.path - 1) / 4 * 4; /* whole \xNN */
		assert_int_equal(sizeof err.path, sizeof err.text);
		assert_int_equal(strnlen(err.path, sizeof err.path), most);
		assert_int_equal(strnlen(err.text, sizeof err.text), most);
		assert_is_message(err.path);
		assert_is_message(err.text);
	}
}
