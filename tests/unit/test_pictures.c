/* Texts of pictures: numbers, where names are broken, what becomes of hard bytes. */
#include "dottext.h"
#include "harness.h"

static void check_value(double value, enum jprof_counter counter, bool exact, const char *should, const char *change)
{
	const struct jprof_view_info view = { .counter = counter };
	const struct dot_opts opts = { .view = &view, .show_bytes = exact };
	char text[dot_cell];
	dot_value(text, value, &opts);
	assert_string_equal(text, should);
	dot_change(text, value, &opts);
	assert_string_equal(text, change);
}

TEST(test_values)
{
	check_value(0, JPROF_INUSE_SPACE, false, "0 B", "unchanged");
	check_value(1, JPROF_INUSE_SPACE, false, "1 B", "+1 B grew");
	check_value(1023.9, JPROF_ALLOC_SPACE, false, "1023 B", "+1023 B grew");
	check_value(1023.96, JPROF_ALLOC_SPACE, false, "1.0 KB", "+1.0 KB grew");
	check_value(-1536, JPROF_INUSE_SPACE, false, "-1.5 KB", "-1.5 KB shrank");
	check_value(1048575, JPROF_INUSE_SPACE, false, "1.0 MB", "+1.0 MB grew");
	check_value(3.25 * 1073741824, JPROF_INUSE_SPACE, false, "3.2 GB", "+3.2 GB grew");
}

TEST(test_exact_values)
{
	check_value(20199631.7, JPROF_INUSE_SPACE, true, "20199631 B", "+20199631 B grew");
	check_value(-0.2, JPROF_INUSE_SPACE, true, "0 B", "0 B shrank");
	check_value(1, JPROF_INUSE_OBJECTS, false, "1 object", "+1 object grew");
	check_value(-12.9, JPROF_ALLOC_OBJECTS, true, "-12 objects", "-12 objects shrank");
}

enum put { XML, HTML, ESCAPED };

static void check_put(enum put how, const char *text, const char *should)
{
	char *out = NULL;
	size_t len;
	FILE *file = open_memstream(&out, &len);
	assert_non_null(file);
	if (how == XML)
		dot_put_xml(file, text, strlen(text));
	else if (how == HTML)
		dot_put_html(file, text, strlen(text));
	else
		dot_put_escaped(file, text);
	fclose(file);
	assert_string_equal(out, should);
	free(out);
}

TEST(test_markup)
{
	check_put(XML, "a<b>&\"c\" \\N", "a&lt;b&gt;&amp;&quot;c&quot; \\N");
	check_put(HTML, "a<b>&\"c\" \\N", "a&lt;b&gt;&amp;&quot;c&quot; \\\\N");
	check_put(ESCAPED, "a<b>&\"c\" \\N", "a<b>&amp;\"c\" \\\\N");
}

/* Overlong forms, surrogates, what is cut, what is beyond the last character, controls, and marks of direction. */
TEST(test_hard_bytes)
{
	check_put(XML, "caf\303\251 \342\202\254 \360\237\230\200", "caf\303\251 \342\202\254 \360\237\230\200");
	check_put(XML, "\300\200|\340\200\200|\355\240\200|\364\220\200\200",
	          "\\xc0\\x80|\\xe0\\x80\\x80|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80");
	check_put(XML, "\377\376 \342\202", "\\xff\\xfe \\xe2\\x82");
	check_put(XML, "\001\n\177 \302\205 \342\200\256 \357\277\277",
	          "\\x01\\x0a\\x7f \\xc2\\x85 \\xe2\\x80\\xae \\xef\\xbf\\xbf");
	check_put(HTML, "\377", "\\\\xff");
	check_put(ESCAPED, "\377", "\\\\xff");
}

/* The lines of a name, parted by "|"; nothing is lost. */
static void check_lines(const char *name, size_t columns, const char *should)
{
	char lines[500] = "";
	const char *rest = name;
	while (*rest) {
		size_t len = dot_line(rest, columns);
		assert_true(len > 0 && len <= strlen(rest));
		strncat(lines, rest, len);
		rest += len;
		if (*rest)
			strcat(lines, "|");
	}
	assert_string_equal(lines, should);
}

TEST(test_lines)
{
	check_lines("short", 20, "short");
	check_lines("libruby-3.1.so.3.1.2!0xd8460", 18, "libruby-3.1.so.3.1.2|!0xd8460");
	check_lines("warehouse::inventory::shelf::fill", 20, "warehouse::inventory::|shelf::fill");
	check_lines("main::{lambda(int)#1}::operator()(int, long)", 20,
	            "main::{lambda(int)#1}::|operator()(int, long)");
	check_lines("a_function_with_a_rather_long_name", 18, "a_function_with_a_|rather_long_name");
	check_lines("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 10, "aaaaaaaaaa|aaaaaaaaaa|aaaaaaaaaa");
	/* No character is cut in two. */
	check_lines("\303\251\303\251\303\251\303\251\303\251\303\251\303\251", 5,
	            "\303\251\303\251|\303\251\303\251|\303\251\303\251\303\251");
}
