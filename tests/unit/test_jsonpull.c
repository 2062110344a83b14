/* JSON, token by token: each text with what it holds, or with what is wrong and where. */
#include "base/jsonpull.h"
#include "base/strbuf.h"
#include "harness.h"

/* Of a text its tokens: { } [ ] as they are, t, f, 0 (null), numbers, "MEANING"; a key before its colon. */
static void describe(struct jp_jsonpull *pull, struct jp_strbuf *out)
{
	static const char names[] = "!.0ft#\"[{";
	char open[jp_json_levels + 1] = "", meaning[256];
	for (;;) {
		enum jp_json_token token = jp_jsonpull_next(pull);
		if (token == JP_JSON_BAD || token == JP_JSON_END)
			return;
		if (pull->key.raw.ptr) {
			jp_strbuf_add(out, meaning, jp_json_decode(&pull->key, meaning));
			jp_strbuf_str(out, ":");
		}
		if (token == JP_JSON_NUMBER) {
			jp_strbuf_add(out, pull->text.raw.ptr, pull->text.raw.len);
		} else if (token == JP_JSON_TEXT) {
			jp_strbuf_str(out, "\"");
			jp_strbuf_add(out, meaning, jp_json_decode(&pull->text, meaning));
			jp_strbuf_str(out, "\"");
		} else if (token == JP_JSON_CLOSE) {
			jp_strbuf_str(out, open[pull->depth] == '{' ? "}" : "]");
		} else {
			jp_strbuf_add(out, &names[token], 1);
			open[pull->depth ? pull->depth - 1 : 0] = names[token];
		}
		jp_strbuf_str(out, token < JP_JSON_ARRAY || token == JP_JSON_CLOSE ? " " : "");
	}
}

TEST(test_texts)
{
	static const struct {
		const char *json, *tokens, *fault; /* "" : whole */
	} texts[] = {
		{ "1", "1 ", "" },
		{ " \t\r\n true \n", "t ", "" },
		{ "[]", "[] ", "" },
		{ "[1, -2.5e+3 ,0.1,null,false,true]", "[1 -2.5e+3 0.1 0 f t ] ", "" },
		{ "{}", "{} ", "" },
		{ "{\"a\":{\"b\":[{}]},\"\":2}", "{a:{b:[{} ] } :2 } ", "" },
		{ "[1,]", "[1 ] ", "" },
		{ "{\"a\":1,}", "{a:1 } ", "" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\b\f\n\r\t\" ", "" },
		{ "\"a tab\tand a line\nstay\"", "\"a tab\tand a line\nstay\" ", "" },
		{ "\"no UTF-8: \xff\"", "\"no UTF-8: \xff\" ", "" },
		{ "\"\\u0041\\u00e9\\u20ac\\uFFFF\"", "\"A\xc3\xa9\xe2\x82\xac\xef\xbf\xbf\" ", "" },
		{ "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\" ", "" },
		{ "\"\\udbff\\udfff\"", "\"\xf4\x8f\xbf\xbf\" ", "" },
		{ "\"\\ud83d\"", "\"\xef\xbf\xbd\" ", "" },
		{ "\"\\ud83dx\\ude00\"", "\"\xef\xbf\xbdx\xef\xbf\xbd\" ", "" },
		{ "\"\\ud83d\\n\"", "\"\xef\xbf\xbd\n\" ", "" },
		{ "\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\" ", "" },
		{ "\"\\ude00\\ud83d\"", "\"\xef\xbf\xbd\xef\xbf\xbd\" ", "" },
		{ "{\"\\u0061\\tb\": 1}", "{a\tb:1 } ", "" },
		{ "", "", "it ends before its end at byte 0" },
		{ " ", "", "it ends before its end at byte 1" },
		{ "[", "[", "it ends before its end at byte 1" },
		{ "[1", "[1 ", "it ends before its end at byte 2" },
		{ "[1,", "[1 ", "it ends before its end at byte 3" },
		{ "[,1]", "[", "a value is missing at byte 1" },
		{ "[1,,2]", "[1 ", "a value is missing at byte 3" },
		{ "[1 2]", "[1 ", "a comma is missing at byte 3" },
		{ "[1}", "[1 ", "a comma is missing at byte 2" },
		{ "]", "", "a value is missing at byte 0" },
		{ "[]]", "[] ", "something follows the value at byte 2" },
		{ "1 2", "1 ", "something follows the value at byte 2" },
		{ "{,}", "{", "a text is missing at byte 1" },
		{ "{1:2}", "{", "a text is missing at byte 1" },
		{ "{\"a\" 1}", "{", "a colon is missing at byte 5" },
		{ "{\"a\":}", "{", "a value is missing at byte 5" },
		{ "{\"a\":1 \"b\":2}", "{a:1 ", "a comma is missing at byte 7" },
		{ "{'a':1}", "{", "a text is missing at byte 1" },
		{ "nul", "", "a value is missing at byte 0" },
		{ "True", "", "a value is missing at byte 0" },
		{ "truex", "t ", "something follows the value at byte 4" },
		{ "\"abc", "", "a text has no end at byte 4" },
		{ "\"abc\\", "", "a backslash is followed by what is no escape at byte 4" },
		{ "\"\\x\"", "", "a backslash is followed by what is no escape at byte 1" },
		{ "\"\\u12g4\"", "", "a backslash is followed by what is no escape at byte 1" },
		{ "\"\\u123", "", "a backslash is followed by what is no escape at byte 1" },
		{ "-", "", "a number has no digits at byte 1" },
		{ "01", "0 ", "something follows the value at byte 1" },
		{ ".5", "", "a value is missing at byte 0" },
		{ "1.", "", "a number has no digits behind its point at byte 2" },
		{ "1e", "", "a number has no digits in its exponent at byte 2" },
		{ "1e+x", "", "a number has no digits in its exponent at byte 3" },
		{ "+1", "", "a value is missing at byte 0" },
		{ "NaN", "", "a value is missing at byte 0" },
		{ "/* */ 1", "", "a value is missing at byte 0" },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(texts); i++) {
		struct jp_strbuf out = { 0 };
		struct jp_jsonpull pull;
		struct jprof_error err = { 0 };
		jp_jsonpull_init(&pull, (struct jp_span){ texts[i].json, strlen(texts[i].json) });
		describe(&pull, &out);
		if (pull.fault)
			assert_int_equal(jp_jsonpull_error(&pull, "j", 7, &err), JPROF_E_FORMAT);
		const char *fault = pull.fault ? err.text + strlen("is no JSON: ") : "";
		if (strcmp(out.text ? out.text : "", texts[i].tokens) != 0 || strcmp(fault, texts[i].fault) != 0)
			wrong += complain("%s: %s, %s", texts[i].json, out.text, fault);
		assert_int_equal(jp_jsonpull_next(&pull), pull.fault ? JP_JSON_BAD : JP_JSON_END);
		jp_strbuf_release(&out);
	}
	assert_int_equal(wrong, 0);
}

/* Ends of what is read, and what stands behind it, are not looked at. */
TEST(test_ends)
{
	static const char whole[] =
	    "{\"key\\u0041\": [\"a text of some length\", 12.5e3, true, null], \"\\ud83d\\ude00\": \"\"}";
	for (size_t len = 0; len < sizeof whole; len++) {
		char *exact = malloc(len ? len : 1);
		struct jp_jsonpull pull;
		struct jp_strbuf out = { 0 };
		memcpy(exact, whole, len);
		jp_jsonpull_init(&pull, (struct jp_span){ exact, len < sizeof whole - 1 ? len : sizeof whole - 1 });
		describe(&pull, &out);
		assert_true(len + 1 >= sizeof whole ? !pull.fault : pull.fault != NULL);
		jp_strbuf_release(&out);
		free(exact);
	}
	struct jp_jsonpull pull;
	jp_jsonpull_init(&pull, (struct jp_span){ "\"a\0b\"", 5 });
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_BAD);
	assert_string_equal(pull.fault, "a NUL");
}

TEST(test_levels)
{
	char deep[2 * jp_json_levels + 2];
	struct jp_jsonpull pull;
	struct jp_strbuf out = { 0 };
	memset(deep, '[', jp_json_levels);
	memset(deep + jp_json_levels, ']', jp_json_levels);
	jp_jsonpull_init(&pull, (struct jp_span){ deep, 2 * jp_json_levels });
	describe(&pull, &out);
	assert_null(pull.fault);
	memset(deep, '[', jp_json_levels + 1);
	jp_jsonpull_init(&pull, (struct jp_span){ deep, sizeof deep });
	describe(&pull, &out);
	assert_string_equal(pull.fault, "more levels than 32");
	jp_strbuf_release(&out);
}

TEST(test_skip)
{
	static const char text[] = "[{\"a\":[1,{\"b\":[]}],\"c\":2},3]", cut[] = "[{\"a\":[1";
	struct jp_jsonpull pull;
	jp_jsonpull_init(&pull, (struct jp_span){ text, strlen(text) });
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_ARRAY);
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_OBJECT);
	assert_true(jp_jsonpull_skip(&pull));
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_NUMBER);
	assert_memory_equal(pull.text.raw.ptr, "3", 1);
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_CLOSE);
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_END);
	jp_jsonpull_init(&pull, (struct jp_span){ cut, strlen(cut) });
	assert_int_equal(jp_jsonpull_next(&pull), JP_JSON_ARRAY);
	assert_false(jp_jsonpull_skip(&pull));
}

TEST(test_meanings)
{
	static const struct {
		const char *raw, *words;
		bool escaped, means;
	} rows[] = {
		{ "", "", false, true },
		{ "type", "type", false, true },
		{ "type", "typ", false, false },
		{ "typ", "type", false, false },
		{ "t\\u0079pe", "type", true, true },
		{ "t\\u0079pe", "types", true, false },
		{ "t\\u0079pe", "tipe", true, false },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80", true, true },
		{ "a\\n", "a", true, false },
		{ "a\\u0000", "a", true, false },
	};
	for (size_t i = 0; i < jp_count(rows); i++) {
		struct jp_json_text text = { { rows[i].raw, strlen(rows[i].raw) }, rows[i].escaped };
		assert_true(jp_json_means(&text, rows[i].words) == rows[i].means);
	}
}

static struct jp_span span_of(const char *text)
{
	return (struct jp_span){ text, strlen(text) };
}

TEST(test_numbers)
{
	static const struct {
		const char *text;
		bool is_uint, is_double;
		uint64_t u;
		double d;
	} rows[] = {
		{ "0", true, true, 0, 0 },
		{ "-0", false, true, 0, 0 },
		{ "18446744073709551615", true, true, UINT64_MAX, 0x1p64 },
		{ "18446744073709551616", false, true, 0, 0x1p64 },
		{ "9223372036854775807", true, true, INT64_MAX, 0x1p63 },
		{ "-9223372036854775808", false, true, 0, -0x1p63 },
		{ "-9223372036854775809", false, true, 0, -0x1p63 },
		{ "1.5", false, true, 0, 1.5 },
		{ "-2.5e-1", false, true, 0, -0.25 },
		{ "1E3", false, true, 0, 1000 },
		{ "123456789012345678901234567890", false, true, 0, 123456789012345678901234567890.0 },
		{ "0.000000000000000000000000000001", false, true, 0, 1e-30 },
		{ "1e308", false, true, 0, 1e308 },
		{ "1e309", false, false, 0, 0 },
		{ "-1e999999999999999999999", false, false, 0, 0 },
		{ "0e999999999999999999999", false, true, 0, 0 },
		{ "1e-999999999999999999999", false, true, 0, 0 },
	};
	for (size_t i = 0; i < jp_count(rows); i++) {
		uint64_t u = 0;
		double d = 0;
		assert_true(jp_json_to_uint(span_of(rows[i].text), &u) == rows[i].is_uint && u == rows[i].u);
		assert_true(jp_json_to_double(span_of(rows[i].text), &d) == rows[i].is_double);
		assert_true(fabs(d - rows[i].d) <= 1e-15 * fabs(rows[i].d));
	}
}
