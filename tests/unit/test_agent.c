/* The parts of the agent that need no process: what JPROF_AGENT says, and the text that it writes. */
#include <signal.h>

#include "testing.h"

#include "config.h"
#include "textbuf.h"

static void triggers_are(const char *words, const char *expected, const char *unknown)
{
	struct config config;
	struct textbuf text = { 0 };
	config_parse(&config, words);
	config_triggers(&config, &text);
	assert_string_equal(text.data ? text.data : "", expected);
	assert_string_equal(config.unknown, unknown);
	textbuf_free(&text);
}

TEST(test_defaults)
{
	struct config config;
	for (int set = 0; set < 2; set++) {
		config_parse(&config, set ? "" : NULL);
		assert_true(config.socket);
		assert_false(config.off);
		assert_false(config.on_exit);
		assert_int_equal(config.scope, CONFIG_RUBY);
		assert_int_equal(config.signal, SIGUSR2);
		assert_int_equal(config.every, 0);
		assert_int_equal(config.rss, 0);
		assert_int_equal(config.cgroup_percent, 0);
		assert_string_equal(config.unknown, "");
	}
}

TEST(test_words)
{
	struct config config;
	config_parse(&config, "every=10m,at=cgroup:85%,at=rss:900M,on=exit,for=puma,signal=50,socket=off");
	assert_int_equal(config.every, 600);
	assert_int_equal(config.cgroup_percent, 85);
	assert_int_equal(config.rss, 900u << 20);
	assert_true(config.on_exit);
	assert_int_equal(config.scope, CONFIG_NAME);
	assert_string_equal(config.name, "puma");
	assert_int_equal(config.signal, 50);
	assert_false(config.socket);
	assert_string_equal(config.unknown, "");
	config_parse(&config, "for=all,signal=none,off");
	assert_int_equal(config.scope, CONFIG_ALL);
	assert_int_equal(config.signal, 0);
	assert_true(config.off);
	config_parse(&config, "signal=none,signal=usr2,for=x,for=ruby");
	assert_int_equal(config.scope, CONFIG_RUBY | CONFIG_NAME);
	assert_string_equal(config.name, "x");
	assert_int_equal(config.signal, SIGUSR2);
}

TEST(test_triggers)
{
	triggers_are("every=60s", "every=1m", "");
	triggers_are("every=7200s,on=exit", "every=2h,on=exit", "");
	triggers_are("every=61s", "every=61s", "");
	triggers_are("at=rss:1048576K", "at=rss:1G", "");
	triggers_are("on=exit,at=rss:1536M,at=cgroup:100%", "at=cgroup:100%,at=rss:1536M,on=exit", "");
	triggers_are("at=rss:1g,,at=rss:2k,", "at=rss:2K", "");
	triggers_are("on=exit,at=peak", "at=peak,on=exit", "");
}

/* What is not understood changes nothing. */
TEST(test_unknown)
{
	static const char *const words[] = {
		"every=10",
		"every=0m",
		"every=m",
		"every=-1m",
		"every=1mm",
		"every= 1m",
		"every=99999999999999999999h",
		"at=cgroup:0%",
		"at=cgroup:101%",
		"at=cgroup:85",
		"at=rss:5",
		"at=rss:99999999999999999G",
		"at=swap:1M",
		"at=peaks",
		"on=",
		"on=Exit",
		"for=",
		"signal=9",
		"signal=11",
		"signal=65",
		"signal=0",
		"signal=",
		"signal=50x",
		"socket=on",
		"offf",
		"OFF",
		"every",
		"\"every=10m\"",
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct config config, plain;
		config_parse(&plain, NULL);
		config_parse(&config, words[i]);
		assert_string_equal(config.unknown, words[i]);
		*config.unknown = 0;
		assert_memory_equal(&config, &plain, offsetof(struct config, unknown));
	}
	triggers_are("bogus,every=1m,worse", "every=1m", "bogus,worse");
}

TEST(test_too_long)
{
	char words[5000];
	struct config config;
	memset(words, 'x', sizeof words - 1);
	words[sizeof words - 1] = 0;
	memcpy(words + sizeof words - 10, ",every=1m", 9);
	config_parse(&config, words);
	assert_int_equal(config.every, 60);
	assert_int_equal(strlen(config.unknown), sizeof config.unknown - 1);
}

static void json_is(const char *s, const char *expected)
{
	struct textbuf text = { 0 };
	textbuf_json(&text, s);
	assert_string_equal(text.data, expected);
	textbuf_free(&text);
}

TEST(test_json)
{
	json_is(NULL, "null");
	json_is("", "\"\"");
	json_is("a\"b\\c\n\x01/", "\"a\\\"b\\\\c\\u000a\\u0001/\"");
	json_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	json_is("\xff"
	        "a\xc3",
	        "\"\\ufffda\\ufffd\"");
	json_is("\xc0\x80\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST(test_text)
{
	struct textbuf text = { 0 };
	for (int i = 0; i < 50000; i++)
		textbuf_printf(&text, "%05d", i);
	assert_int_equal(text.len, 250000);
	assert_memory_equal(text.data + 249990, "4999849999", 11);
	textbuf_free(&text);
	assert_null(text.data);
}
