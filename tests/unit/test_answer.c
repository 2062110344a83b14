/* An answer and its walkers: paragraphs in columns, numbers that are not known, lists of which as much is shown as
 * fits. */
#include "cli/answer.h"
#include "cli/terminal.h"
#include "harness.h"

static void says(const struct answer *a, unsigned columns, const char *should)
{
	char *is = NULL;
	size_t len;
	FILE *out = open_memstream(&is, &len);
	assert_non_null(out);
	answer_put_text(out, a, columns);
	fclose(out);
	assert_string_equal(is, should);
	free(is);
}

TEST(test_paragraphs)
{
	struct answer a = { 0 };
	says(&a, 10, "");
	jp_strbuf_str(answer_add(&a, ANSWER_HEAD), "one two three");
	jp_strbuf_str(answer_add(&a, ANSWER_HEAD), "four");
	jp_strbuf_str(answer_add(&a, ANSWER_SENTENCE), "a_word_without_end is whole");
	answer_add(&a, ANSWER_NOTE);
	jp_strbuf_str(answer_add(&a, ANSWER_MORE), "right below");
	jp_strbuf_str(answer_add(&a, ANSWER_LINES), "  as they are, however long\n");
	says(&a, 10,
	     "one two\nthree\nfour\n\na_word_without_end\nis whole\n\nright\nbelow\n  as they are, however long\n");
	char *head = answer_joined(&a, ANSWER_HEAD), *none = answer_joined(&a, ANSWER_TABLE);
	assert_string_equal(head, "one two three four");
	assert_string_equal(none, "");
	free(head);
	free(none);
	answer_release(&a);
}

TEST(test_asides)
{
	struct answer a = { 0 };
	jp_strbuf_str(answer_add_labelled(&a, ANSWER_ASIDE, "limit"), "5 MB  for each row");
	jp_strbuf_str(answer_add_labelled(&a, ANSWER_ASIDE, ""), "none");
	says(&a, 28, "limit     5 MB  for each row\n          none\n");
	says(&a, 27, "limit     5 MB for each row\n          none\n");
	says(&a, 20, "limit     5 MB for\n          each row\n          none\n");
	answer_release(&a);
}

static void add_row(struct answer *a, double bytes, double growth, double error, const char *words)
{
	answer_add(a, ANSWER_ROW);
	answer_add_value(a, ANSWER_AMOUNT, bytes);
	answer_add_value(a, ANSWER_SHARE, bytes / mb);
	answer_add_value(a, ANSWER_GROWTH, growth);
	jp_strbuf_str(answer_add_value(a, ANSWER_WORDS, error), words);
}

TEST(test_rows)
{
	struct answer a = { 0 };
	jp_strbuf_str(answer_add(&a, ANSWER_TABLE), "     MB  share  growth");
	add_row(&a, 12.5 * mb, 2 * mb, 0.5 * mb, "  known");
	add_row(&a, NAN, NAN, NAN, "  not known");
	says(&a, 80,
	     "\n     MB  share  growth\n   12.5   12 %    +2.0  known (+-0.5)\n                        not known\n");
	answer_release(&a);
}

TEST(test_lists)
{
	struct answer a = { 0 };
	static const char *const names[] = { "String", "Array", "Hash", "Object" };
	answer_add(&a, ANSWER_ROW);
	jp_strbuf_str(answer_add(&a, ANSWER_WORDS), "Ruby data");
	for (size_t i = 0; i < jp_count(names); i++)
		jp_strbuf_str(answer_add_value(&a, ANSWER_ENTRY, (double)(4 - i) * mb), names[i]);
	answer_add(&a, ANSWER_ROW);
	jp_strbuf_str(answer_add(&a, ANSWER_WORDS), "next");
	says(&a, 80, "Ruby data  String 4.0, Array 3.0, Hash 2.0, Object 1.0\nnext\n");
	says(&a, 47, "Ruby data  String 4.0, Array 3.0, 2 others 3.0\nnext\n");
	says(&a, 46, "Ruby data  String 4.0, 3 others 6.0\nnext\n");
	answer_release(&a);
	answer_add(&a, ANSWER_ROW);
	jp_strbuf_str(answer_add(&a, ANSWER_WORDS), "what has no room behind it for a name of that many letters");
	jp_strbuf_str(answer_add_value(&a, ANSWER_ENTRY, mb), "ActiveSupport::Cache");
	says(&a, 80,
	     "what has no room behind it for a name of that many letters\n"
	     "                              ActiveSupport::Cache 1.0\n");
	answer_release(&a);
}

/* Where lines are few, parts go by their number, the highest first; and no line is longer than the terminal. */
TEST(test_giving_way)
{
	struct answer a = { 0 };
	char *is = NULL;
	size_t len;
	jp_strbuf_str(answer_add(&a, ANSWER_HEAD), "stays");
	a.gives = 1;
	add_row(&a, 12.5 * mb, NAN, 0.5 * mb, " a name that is long");
	a.gives = answer_gives_most;
	jp_strbuf_str(answer_add(&a, ANSWER_LINES), "the first to go\n");
	assert_false(answer_gives(&a, 0));
	assert_true(answer_gives(&a, 1));
	FILE *out = open_memstream(&is, &len);
	assert_non_null(out);
	answer_put_some(out, &a, 40, 1);
	fclose(out);
	assert_string_equal(is, "stays\n   12.5   12 %         a ...long (+-0.5)\n");
	free(is);
	out = open_memstream(&is, &len);
	answer_put_some(out, &a, 40, answer_gives_most);
	fclose(out);
	assert_string_equal(is, "stays\n");
	free(is);
	answer_release(&a);
}
