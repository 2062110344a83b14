#include "render/pagecolumns.h"

#include <math.h>
#include <string.h>

/* How the numbers of a column are written. One of numbers takes the first of the first three that has room for all. */
enum { PLAIN, SIGNED, DOUBLES, STEPS };

/* Numbers are handed on in pieces of so many. */
enum { piece = 200 };

static void begin_column(struct jp_page_columns *columns, unsigned form, unsigned scale, size_t count)
{
	jp_strbuf_cut(&columns->text, 0);
	jp_strbuf_uleb(&columns->text, form);
	jp_strbuf_uleb(&columns->text, scale);
	jp_strbuf_uleb(&columns->text, count);
}

static uint32_t end_column(struct jp_page_columns *columns)
{
	const struct jp_strbuf *text = &columns->text;
	uint32_t id = text->failed ? JP_NONE : jp_intern(&columns->list, text->text, text->len);
	columns->failed = columns->failed || id == JP_NONE;
	return id;
}

/* 0, -1, 1, -2 and so on become 0, 1, 2, 3. */
static char *put_signed(char *text, int64_t value)
{
	return jp_put_uleb(text, (uint64_t)value << 1 ^ -(uint64_t)(value < 0));
}

uint32_t jp_page_ids(struct jp_page_columns *columns, bool steps, size_t count, jp_page_id_fn *id, const void *of)
{
	char text[piece * jp_longest_uleb];
	int64_t before = 0;
	begin_column(columns, steps ? STEPS : PLAIN, 1, count);
	for (size_t i = 0; i < count;) {
		char *end = text;
		for (size_t n = 0; n < piece && i < count; n++, i++) {
			uint32_t now = id(of, i);
			end = steps ? put_signed(end, now - before) : jp_put_uleb(end, now);
			before = now;
		}
		jp_strbuf_add(&columns->text, text, (size_t)(end - text));
	}
	return end_column(columns);
}

/* Puts a number in its scale. False: the form has no room for it. */
static bool put_number(char **text, unsigned form, double value)
{
	if (form == DOUBLES) {
		value = isfinite(value) ? round(value) : 0;
		memcpy(*text, &value, sizeof value);
		*text += sizeof value;
		return true;
	}
	if (!(fabs(value) < 0x1p52) || (form == PLAIN && value <= -0.5))
		return false;
	int64_t whole = (int64_t)(value + (value < 0 ? -0.5 : 0.5));
	*text = form == SIGNED ? put_signed(*text, whole) : jp_put_uleb(*text, (uint64_t)whole);
	return true;
}

static bool put_numbers(struct jp_strbuf *out, unsigned form, unsigned scale, size_t count, const double *numbers)
{
	char text[piece * jp_longest_uleb];
	for (size_t i = 0; i < count;) {
		char *end = text;
		for (size_t n = 0; n < piece && i < count; n++, i++)
			if (!put_number(&end, form, numbers[i] * scale))
				return false;
		jp_strbuf_add(out, text, (size_t)(end - text));
	}
	return true;
}

uint32_t jp_page_numbers(struct jp_page_columns *columns, unsigned scale, size_t count, const double *numbers)
{
	unsigned form = PLAIN;
	do
		begin_column(columns, form, scale, count);
	while (!put_numbers(&columns->text, form++, scale, count, numbers));
	return end_column(columns);
}

void jp_page_columns_release(struct jp_page_columns *columns)
{
	jp_intern_release(&columns->list);
	jp_strbuf_release(&columns->text);
}
