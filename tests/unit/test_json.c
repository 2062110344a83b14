/* JSON: hostile texts are refused, odd values are as if they were not there. */
#include "base/jsonin.h"
#include "harness.h"

static struct json_object *parsed(const char *text)
{
	struct json_object *value = NULL;
	struct jprof_error err = { 0 };
	int rc = jp_json_parse(text, strlen(text), "j", &value, &err);
	assert_int_equal(err.code, rc);
	assert_true(!rc == (value != NULL));
	return value;
}

static void test_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "",    "{",    "}",   "{\"a\":}", "{\"a\":1} x", "{\"a\":1}{}",
		                           "nul", "null", "[1,", "\"a",      "\x01" };
	int wrong = 0;
	for (size_t i = 0; i < jp_count(bad); i++) {
		struct json_object *value = parsed(bad[i]);
		wrong += value ? complain("taken: %s", bad[i]) : 0;
		jp_json_release(&value);
	}
	assert_int_equal(wrong, 0);
}

static void test_deep(void **state)
{
	(void)state;
	char deep[200000];
	memset(deep, '[', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	assert_null(parsed(deep));
	memset(deep + 20, ']', 20);
	deep[40] = '\0';
	struct json_object *value = parsed(deep);
	assert_non_null(value);
	jp_json_release(&value);
}

static void test_values(void **state)
{
	(void)state;
	struct json_object *o =
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
