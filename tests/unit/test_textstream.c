/* Streams in memory: all that was written, or none of it and the word that memory was short. */
#include <string.h>

#include "base/strbuf.h"
#include "cli/textstream.h"
#include "harness.h"
#include "shortmem.h"

enum { lines = 3000 };

/* What was written while one allocation failed, 0: none; NULL when that was noticed. *asked: how many there were. */
static char *written(size_t failing, size_t *asked, size_t *len)
{
	char *text = NULL;
	shortmem_arm(failing);
	FILE *out = textstream_open(&text, len);
	for (int i = 0; out && i < lines; i++)
		fprintf(out, "line %d\n", i);
	bool whole = out && textstream_closed(out, &text);
	*asked = shortmem_disarm();
	assert_int_equal(whole, text != NULL);
	return text;
}

TEST(test_stream_is_whole_or_none)
{
	struct jp_strbuf expected = { 0 };
	size_t asked, again, len;
	for (int i = 0; i < lines; i++)
		jp_strbuf_printf(&expected, "line %d\n", i);
	char *text = written(0, &asked, &len);
	assert_string_equal(text, expected.text);
	assert_int_equal(len, expected.len);
	free(text);
	assert_in_range(asked, 2, 100);
	for (size_t nth = 1; nth <= asked; nth++)
		assert_null(written(nth, &again, &len));
	jp_strbuf_release(&expected);
}

/* Nothing written is an empty text. */
TEST(test_empty_stream)
{
	char *text;
	size_t len;
	FILE *out = textstream_open(&text, &len);
	assert_non_null(out);
	assert_true(textstream_closed(out, &text));
	assert_string_equal(text, "");
	assert_int_equal(len, 0);
	free(text);
}
