#include "base/strbuf.h"
#include "harness.h"

TEST(test_adding)
{
	struct jp_strbuf b = { 0 };
	jp_strbuf_str(&b, "");
	assert_string_equal(b.text, "");
	jp_strbuf_str(&b, "ab");
	jp_strbuf_add(&b, "cdef", 2);
	jp_strbuf_printf(&b, "-%d%s", 7, "!");
	jp_strbuf_add(&b, NULL, 0);
	assert_string_equal(b.text, "abcd-7!");
	assert_int_equal(b.len, 7);
	assert_false(b.failed);
	jp_strbuf_right(&b, "12", 4);
	jp_strbuf_right(&b, "12345", 4);
	assert_string_equal(b.text, "abcd-7!  1212345");
	jp_strbuf_cut(&b, 7);
	jp_strbuf_add(&b, "\0x", 2);
	assert_memory_equal(b.text, "abcd-7!\0x", 10);
	jp_strbuf_release(&b);
	assert_null(b.text);
	assert_int_equal(b.len, 0);
}

TEST(test_long_texts)
{
	struct jp_strbuf b = { 0 };
	for (int i = 0; i < 5000; i++)
		jp_strbuf_printf(&b, "%04d", i);
	assert_int_equal(b.len, 20000);
	assert_memory_equal(b.text, "000000010002", 12);
	assert_string_equal(b.text + 19992, "49984999");
	jp_strbuf_release(&b);
}

TEST(test_visible)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "plain name", "plain name" },
		{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "\033[31mred", "\\x1b[31mred" },
		{ "\001\037\177", "\\x01\\x1f\\x7f" },
		{ "caf\303\251 \"quoted\" \\ ;$()", "caf\303\251 \"quoted\" \\ ;$()" },
		{ "", "" },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m" }, /* CSI of C1 */
		{ "a\xe2\x80\xae"
		  "b",
		  "a\\xe2\\x80\\xaeb" }, /* right-to-left override */
		{ "\xe2\x81\xa6\xd8\x9c", "\\xe2\\x81\\xa6\\xd8\\x9c" },
		{ "\xe2\x80\xa8|\xef\xbb\xbf", "\\xe2\\x80\\xa8|\\xef\\xbb\\xbf" },
		{ "\xff|\x9b|\xed\xa0\x80|\xe2\x80", "\\xff|\\x9b|\\xed\\xa0\\x80|\\xe2\\x80" },
		{ "\xe2\x80\xa7\xf0\x9f\x98\x80\xc2\xa0", "\xe2\x80\xa7\xf0\x9f\x98\x80\xc2\xa0" },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_strbuf b = { 0 };
		jp_strbuf_str(&b, "");
		jp_strbuf_visible(&b, cases[i].from);
		assert_string_equal(b.text, cases[i].to);
		jp_strbuf_release(&b);
	}
}

TEST(test_for_programs)
{
	struct jp_strbuf b = { 0 };
	jp_strbuf_utf8(&b, "a\n\xe2\x80\xae\xff\xc3\xa9\xe2\x80");
	assert_string_equal(b.text, "a\n\xe2\x80\xae\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	jp_strbuf_cut(&b, 0);
	jp_strbuf_line(&b, "a\n\x7f\xe2\x80\xae\xff");
	assert_string_equal(b.text, "a\\x0a\\x7f\xe2\x80\xae\xef\xbf\xbd");
	jp_strbuf_release(&b);
}

/* As much as fits, and no part of a character or of \xNN. */
TEST(test_copy)
{
	static const char whole[] = "a\xc3\xa9\\x1bz";
	char to[16];
	for (size_t size = 1; size <= sizeof to; size++) {
		size_t fits = size < 2 ? 0 : size < 4 ? 1 : size < 8 ? 3 : size < 9 ? 7 : 8;
		memset(to, '#', sizeof to);
		jprof_visible("a\xc3\xa9\x1bz", to, size);
		assert_int_equal(strlen(to), fits);
		assert_memory_equal(to, whole, fits);
	}
}

TEST(test_cut)
{
	struct jp_strbuf b = { 0 };
	jp_strbuf_cut(&b, 0);
	jp_strbuf_str(&b, "abcdef");
	jp_strbuf_cut(&b, 9);
	assert_string_equal(b.text, "abcdef");
	jp_strbuf_cut(&b, 3);
	assert_string_equal(b.text, "abc");
	jp_strbuf_str(&b, "x");
	assert_string_equal(b.text, "abcx");
	jp_strbuf_cut(&b, 0);
	assert_string_equal(b.text, "");
	jp_strbuf_release(&b);
}

/* A length that cannot be had fails at once, without touching `data`. */
TEST(test_failure_lasts)
{
	struct jp_strbuf b = { 0 };
	jp_strbuf_str(&b, "kept");
	jp_strbuf_add(&b, "x", SIZE_MAX - 2);
	assert_true(b.failed);
	jp_strbuf_str(&b, "more");
	jp_strbuf_printf(&b, "%d", 1);
	jp_strbuf_visible(&b, "more");
	assert_true(b.failed);
	assert_string_equal(b.text, "kept");
	jp_strbuf_release(&b);
	assert_false(b.failed);
}
