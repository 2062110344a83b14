#include "harness.h"
#include "run/mallconf.h"

static void check_pair(const struct conf_pair *p, const char *key, const char *value)
{
	assert_int_equal(p->key_len, strlen(key));
	assert_memory_equal(p->key, key, p->key_len);
	if (!value) {
		assert_null(p->value);
		return;
	}
	assert_int_equal(p->value_len, strlen(value));
	assert_memory_equal(p->value, value, p->value_len);
}

TEST(test_pairs)
{
	const char *conf = "prof:true,,lone,prof_prefix:/a:b,x:";
	struct conf_pair p;
	assert_true(conf_next(&conf, &p));
	check_pair(&p, "prof", "true");
	assert_true(conf_next(&conf, &p));
	check_pair(&p, "", NULL);
	assert_true(conf_next(&conf, &p));
	check_pair(&p, "lone", NULL);
	assert_true(conf_next(&conf, &p));
	check_pair(&p, "prof_prefix", "/a:b");
	assert_true(conf_next(&conf, &p));
	check_pair(&p, "x", "");
	assert_false(conf_next(&conf, &p));
	conf = "";
	assert_false(conf_next(&conf, &p));
}

TEST(test_blanks)
{
	static const char *const with[] = {
		"prof:true, lg_prof_sample:17", "prof:true\n", " prof:true", "a:b,\tc:d", "a:b ,c:d", "a:b,\n"
	};
	static const char *const without[] = { "", ",", "prof:true,lg_prof_sample:17", "prof_prefix:/a b/c,x:y" };
	for (size_t i = 0; i < jp_count(with); i++)
		if (!conf_has_blanks(with[i]))
			fail_msg("'%s' has blanks", with[i]);
	for (size_t i = 0; i < jp_count(without); i++)
		if (conf_has_blanks(without[i]))
			fail_msg("'%s' has no blanks", without[i]);
}

static void check_get(const char *conf, const char *key, const char *expected)
{
	char value[16] = "untouched";
	assert_int_equal(conf_get(conf, key, value, sizeof value), expected != NULL);
	assert_string_equal(value, expected ? expected : "untouched");
}

TEST(test_get)
{
	check_get("prof:true,lg_prof_sample:17", "lg_prof_sample", "17");
	check_get("prof:true,prof:false", "prof", "false");
	check_get("prof:true,\n prof:false\n", "prof", "false");
	check_get("prof_active:true", "prof", NULL);
	check_get("aprof:true", "prof", NULL);
	check_get("prof", "prof", NULL);
	check_get("prof:", "prof", "");
	check_get("prof_prefix:/a:b", "prof_prefix", "/a:b");
	check_get("prof_prefix:/0123456789abcdef", "prof_prefix", "/0123456789abcd");
}

static void check_copy(char *(*copy)(const char *), const char *conf, const char *expected)
{
	char *text = copy(conf);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

TEST(test_tidy)
{
	check_copy(conf_tidy, "", "");
	check_copy(conf_tidy, " , ,", "");
	check_copy(conf_tidy, "prof:true,\n  lg_prof_sample:17\n", "prof:true,lg_prof_sample:17");
	check_copy(conf_tidy, ",a:b,,c:d,", "a:b,c:d");
	check_copy(conf_tidy, "prof_prefix:/a b/c", "prof_prefix:/a b/c");
}

/* What jemalloc would refuse stays, so that it does. */
TEST(test_harmless)
{
	check_copy(conf_harmless, "prof:true,prof_final:true,x:y", "prof:true,prof_final:false,x:y");
	check_copy(conf_harmless, "prof_gdump:true", "prof_gdump:false");
	check_copy(conf_harmless, "lg_prof_interval:30,", "lg_prof_interval:-1,");
	check_copy(conf_harmless, "prof_final:yes,prof_final: true,lg_prof_interval:x,lg_prof_interval:",
	           "prof_final:yes,prof_final: true,lg_prof_interval:x,lg_prof_interval:");
	check_copy(conf_harmless, "lg_prof_interval:0x4,lg_prof_interval:0030,lg_prof_interval:+3,prof_log:true",
	           "lg_prof_interval:-1,lg_prof_interval:-1,lg_prof_interval:-1,prof_log:false");
	check_copy(conf_harmless, "lg_prof_interval:3 ,prof_log:no", "lg_prof_interval:3 ,prof_log:no");
	check_copy(conf_harmless, "prof_final", "prof_final");
	check_copy(conf_harmless, ",,a:b, c:d,", ",,a:b, c:d,");
	check_copy(conf_harmless, "", "");
}
