/* JSON: hostile texts are refused, odd values are as if they were not there. */
#include "base/jsonin.h"
#include "base/strbuf.h"
#include "harness.h"

static struct jprof_json *parsed(const char *text)
{
	struct jprof_json *value = NULL;
	struct jprof_error err = { 0 };
	int rc = jp_json_parse(text, strlen(text), "j", &value, &err);
	assert_int_equal(err.code, rc);
	assert_true(!rc == (value != NULL));
	return value;
}

TEST(test_refused)
{
	static const char *const bad[] = { "",    "{",    "}",   "{\"a\":}", "{\"a\":1} x", "{\"a\":1}{}",
		                           "nul", "null", "[1,", "\"a",      "\x01" };
	int wrong = 0;
	for (size_t i = 0; i < jp_count(bad); i++) {
		struct jprof_json *value = parsed(bad[i]);
		wrong += value ? complain("taken: %s", bad[i]) : 0;
		jp_json_release(&value);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_deep)
{
	char deep[200000];
	memset(deep, '[', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	assert_null(parsed(deep));
	memset(deep + 20, ']', 20);
	deep[40] = '\0';
	struct jprof_json *value = parsed(deep);
	assert_non_null(value);
	jp_json_release(&value);
}

TEST(test_values)
{
	struct jprof_json *o =
	    parsed(" {\"n\": 18446744073709551615, \"neg\": -1, \"t\": \"a\\u00e9\", \"nul\": \"a\\u0000b\",\n"
	           "\"hex\": \"0xff\", \"odd\": \"0xfg\", \"yes\": true, \"list\": [1, \"x\"], \"none\": null} \n");
	uint64_t hex = 0;
	assert_non_null(o);
	assert_true(jp_json_number(o, "n") == UINT64_MAX);
	assert_true(jp_json_number(o, "neg") == 0);
	assert_true(jp_json_number(o, "t") == 0);
	assert_string_equal(jp_json_text(o, "t"), "a\xc3\xa9");
	assert_null(jp_json_text(o, "nul"));
	assert_null(jp_json_text(o, "n"));
	assert_null(jp_json_text(o, "missing"));
	assert_null(jp_json_text(NULL, "t"));
	assert_true(jp_json_hex(o, "hex", &hex) && hex == 255);
	assert_false(jp_json_hex(o, "odd", &hex));
	assert_true(jp_json_true(o, "yes"));
	assert_false(jp_json_true(o, "n"));
	assert_int_equal(jp_json_length(jp_json_get(o, "list")), 2);
	assert_int_equal(jp_json_length(jp_json_get(o, "t")), 0);
	assert_null(jp_json_at(jp_json_get(o, "list"), 2));
	assert_null(jp_json_get(jp_json_get(o, "list"), "x"));
	assert_null(jp_json_get(o, "none"));
	jp_json_release(&o);
}

/* What programs have of it. */
TEST(test_for_programs)
{
	static const char text[] = "{\"a\": [1.5, true, \"x\", null, -1, 1e999], \"b\": 1, \"b\": 2, \"\\u0062\": 3}";
	struct jprof_json *json;
	struct jprof_error err;
	assert_int_equal(jprof_json_read(text, sizeof text - 1, "j", &json, &err), 0);
	const struct jprof_json *a = jprof_json_get(json, "a");
	static const char *const strings[] = { "1.5", "true", "x", NULL, "-1", "1e999" };
	static const double numbers[] = { 1.5, NAN, NAN, NAN, -1, NAN };
	assert_int_equal(jprof_json_count(a), jp_count(strings));
	for (size_t i = 0; i < jp_count(strings); i++) {
		const char *string = jprof_json_string(jprof_json_at(a, i));
		double number = jprof_json_number(jprof_json_at(a, i));
		assert_true(string == strings[i] || !strcmp(string, strings[i]));
		assert_true(isnan(number) ? isnan(numbers[i]) : number == numbers[i]);
	}
	assert_string_equal(jprof_json_string(jprof_json_get(json, "b")), "3");
	assert_null(jprof_json_string(a));
	assert_int_equal(jprof_json_count(json), 0);
	jprof_json_free(json);
	assert_int_equal(jprof_json_read("{\"a\"\n1}", 8, "f.json", &json, &err), JPROF_E_FORMAT);
	assert_string_equal(err.text, "is no JSON: a colon is missing at byte 5");
	assert_string_equal(err.path, "f.json");
}

/* Many members of one object are found at once, by any order of theirs. */
TEST(test_many)
{
	enum { count = 20000 };
	struct jp_strbuf text = { 0 };
	char key[16];
	for (int i = 0; i < count; i++)
		jp_strbuf_printf(&text, "%s\"%d\": %d", i ? "," : "{", i * 7919 % count, i);
	jp_strbuf_str(&text, "}");
	struct jprof_json *o = parsed(text.text);
	assert_non_null(o);
	for (int i = 0; i < count; i++) {
		snprintf(key, sizeof key, "%d", i * 7919 % count);
		assert_int_equal(jp_json_number(o, key), i);
	}
	jp_json_release(&o);
	jp_strbuf_release(&text);
}
