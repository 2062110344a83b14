/* JSON as it is written, byte for byte: by RFC 8259. */
#include <locale.h>

#include "base/jsonout.h"
#include "harness.h"

static void check(struct jp_strbuf *out, const char *should)
{
	assert_false(out->failed);
	assert_string_equal(out->text, should);
	jp_strbuf_release(out);
}

TEST(test_layout)
{
	struct jp_strbuf out = { 0 };
	struct jp_jsonout j = { .out = &out };
	jp_jsonout_open(&j, NULL, '{', false);
	jp_jsonout_uint(&j, "max", UINT64_MAX);
	jp_jsonout_open(&j, "flat", '[', true);
	jp_jsonout_bool(&j, NULL, true);
	jp_jsonout_null(&j, NULL);
	jp_jsonout_open(&j, NULL, '{', false);
	jp_jsonout_string(&j, "k", "v");
	jp_jsonout_close(&j);
	jp_jsonout_close(&j);
	jp_jsonout_open(&j, "empty", '{', false);
	jp_jsonout_close(&j);
	jp_jsonout_open(&j, "rows", '[', false);
	jp_jsonout_uint(&j, NULL, 1);
	jp_jsonout_uint(&j, NULL, 2);
	jp_jsonout_close(&j);
	jp_jsonout_close(&j);
	check(&out, "{\n \"max\":18446744073709551615,\n \"flat\":[true,null,{\"k\":\"v\"}],\n \"empty\":{},\n"
	            " \"rows\":[\n  1,\n  2\n ]\n}\n");
}

TEST(test_format)
{
	const char *volatile none = NULL;
	struct jp_strbuf out = { 0 };
	struct jp_jsonout j = { .out = &out };
	jp_jsonout_put(&j, "{\nmax:%ju size:%zu small:%u flat:[%i %i %s %s]", UINT64_MAX, (size_t)7, 4294967295u, true,
	               false, "a\"{%", none);
	jp_jsonout_put(&j, "rows:[\n{$a:%.3f b:%f}", 0.25, 12.6);
	jp_jsonout_put(&j, "%.6f]}", NAN);
	check(&out, "{\n \"max\":18446744073709551615,\n \"size\":7,\n \"small\":4294967295,\n "
	            "\"flat\":[true,false,\"a\\\"{%\",null],\n \"rows\":[\n  {\"$a\":0.25,\"b\":13},\n  null\n ]\n}\n");
}

TEST(test_strings)
{
	struct jp_strbuf out = { 0 };
	struct jp_jsonout j = { .out = &out };
	jp_jsonout_open(&j, NULL, '[', true);
	jp_jsonout_string(&j, NULL, "\"\\/\b\f\n\r\t\x01\x1f\x7f");
	jp_jsonout_string(&j, NULL, "caf\xc3\xa9 caf\xe9 \xed\xa0\x80");
	jp_jsonout_string(&j, NULL, "");
	jp_jsonout_string(&j, NULL, NULL);
	jp_jsonout_close(&j);
	check(&out, "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\",\"caf\xc3\xa9 caf\xef\xbf\xbd "
	            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"\",null]\n");
}

static const struct {
	double value;
	unsigned decimals;
	const char *should;
} numbers[] = {
	{ 0, 3, "0" },
	{ -0.0, 3, "0" },
	{ 1, 3, "1" },
	{ 1.5, 0, "2" },
	{ 0.05, 3, "0.05" },
	{ 0.0005, 3, "0.001" },
	{ 0.0004, 3, "0" },
	{ -0.0004, 3, "0" },
	{ -12.3456, 3, "-12.346" },
	{ 1234.5, 3, "1234.5" },
	{ 0.999999, 6, "0.999999" },
	{ 0.9999999, 6, "1" },
	{ 1e15, 3, "1000000000000000" },
	{ 9007199254740993.0, 3, "9007199254740992" },
	{ 4398046511103.999, 3, "4398046511103.999" },
	{ 1e22, 3, "10000000000000000000000" },
	{ INFINITY, 3, "null" },
	{ -INFINITY, 3, "null" },
	{ NAN, 3, "null" },
};

static void check_numbers(void)
{
	for (size_t i = 0; i < jp_count(numbers); i++) {
		struct jp_strbuf out = { 0 };
		struct jp_jsonout j = { .out = &out };
		jp_jsonout_number(&j, NULL, numbers[i].value, numbers[i].decimals);
		check(&out, numbers[i].should);
	}
}

TEST(test_numbers)
{
	check_numbers();
	/* Where a locale with another point is installed, it changes nothing. */
	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		check_numbers();
	setlocale(LC_ALL, "C");
}

TEST(test_too_deep)
{
	struct jp_strbuf out = { 0 };
	struct jp_jsonout j = { .out = &out };
	for (int i = 0; i <= JP_JSON_DEPTH; i++)
		jp_jsonout_open(&j, NULL, '[', true);
	assert_true(out.failed);
	jp_strbuf_release(&out);
}

/* Text is written as RFC 8259 has it; what is no UTF-8 (Unicode 15, table 3-7) becomes U+FFFD. */
TEST(test_public)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "plain", "\"plain\"" },
		{ "q\"b\\", "\"q\\\"b\\\\\"" },
		{ "a\nb\x7f", "\"a\\nb\\u007f\"" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\xef\xbf\xbd\"" },
		{ "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"" },
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ NULL, "null" },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char *out = jprof_json_text(cases[i].text);
		assert_non_null(out);
		wrong += strcmp(out, cases[i].json) ? complain("case %zu: %s", i, out) : 0;
		free(out);
	}
	assert_int_equal(wrong, 0);
}
