#include "base/columns.h"

#include <string.h>

#include "base/utf8.h"

/* The character at `s`, which is not at its end; a byte that is part of none counts as one. */
static size_t next_character(const char *s, jp_char_columns_fn *columns_of, size_t *columns)
{
	uint32_t code;
	size_t len = jp_utf8_decode(s, strnlen(s, 4), &code);
	int wide = len && columns_of ? columns_of(code) : 1;
	*columns = wide < 0 ? 1 : (size_t)wide;
	return len ? len : 1;
}

size_t jp_columns(const char *text, jp_char_columns_fn *columns_of)
{
	size_t sum = 0, columns;
	for (const char *p = text; *p; sum += columns)
		p += next_character(p, columns_of, &columns);
	return sum;
}

/* How many bytes of the text fit into `room` columns; *used says how many those take. What takes none goes with the
 * character before it. */
static size_t head_bytes(const char *text, size_t room, jp_char_columns_fn *columns_of, size_t *used)
{
	const char *p = text;
	*used = 0;
	while (*p) {
		size_t columns, len = next_character(p, columns_of, &columns);
		if (*used + columns > room)
			break;
		*used += columns;
		p += len;
	}
	return (size_t)(p - text);
}

/* The shortest rest of the text, from a character with a width on, that leaves no more than `room` columns. */
static const char *tail_of(const char *text, size_t all, size_t room, jp_char_columns_fn *columns_of, size_t *used)
{
	const char *p = text;
	size_t columns, len;
	for (*used = all; *p; p += len) {
		len = next_character(p, columns_of, &columns);
		if (*used <= room && columns)
			break;
		*used -= columns;
	}
	return p;
}

static const char gap[] = "...";

size_t jp_put_cut(struct jp_strbuf *out, const char *text, size_t room, jp_char_columns_fn *columns_of)
{
	size_t all = jp_columns(text, columns_of), head, tail = 0, between = room < sizeof gap ? 0 : sizeof gap - 1;
	if (all <= room) {
		jp_strbuf_str(out, text);
		return all;
	}
	size_t left = room - between;
	size_t bytes = head_bytes(text, between ? (left + 1) / 2 : left, columns_of, &head);
	jp_strbuf_add(out, text, bytes);
	if (between) {
		jp_strbuf_str(out, gap);
		jp_strbuf_str(out, tail_of(text, all, left - head, columns_of, &tail));
	}
	return head + between + tail;
}

size_t jp_put_head(struct jp_strbuf *out, const char *text, size_t room, jp_char_columns_fn *columns_of)
{
	size_t used;
	if (room < sizeof gap || jp_columns(text, columns_of) <= room)
		return jp_put_cut(out, text, room, columns_of);
	jp_strbuf_add(out, text, head_bytes(text, room - (sizeof gap - 1), columns_of, &used));
	jp_strbuf_str(out, gap);
	return used + sizeof gap - 1;
}

size_t jp_put_tail(struct jp_strbuf *out, const char *text, const char *tail, size_t room,
                   jp_char_columns_fn *columns_of)
{
	size_t used, kept = jp_columns(tail, columns_of) + sizeof gap - 1;
	if (kept > room || jp_columns(text, columns_of) <= room)
		return jp_put_cut(out, text, room, columns_of);
	jp_strbuf_add(out, text, head_bytes(text, room - kept, columns_of, &used));
	jp_strbuf_str(out, gap);
	jp_strbuf_str(out, tail);
	return used + kept;
}
