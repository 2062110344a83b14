/* The one way to touch bytes that came from a file: every step is checked against the end, and
 * every number against its type. Text is read by lines and spans, binary data by struct jp_bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of text, not NUL-terminated. The functions below eat it from the front. */
struct jp_span {
	const char *ptr;
	size_t len;
};

struct jp_window;

struct jp_reader {
	struct jp_span rest;
	struct jp_window *window; /* moves on when the rest is used up; NULL: the rest is all there is */
	unsigned line;            /* number of the line last returned, from 1 */
	bool cut;                 /* the line last returned had no newline: the file ends inside it */
};

void jp_reader_init(struct jp_reader *reader, const void *data, size_t len);

/* The same for what a window holds and what comes after it. Whether that ended as it should, window->rc tells. */
void jp_reader_init_window(struct jp_reader *reader, struct jp_window *window);

/* The next line without its \n or \r\n; false at the end. Of a window it lives until the next one is read. */
bool jp_reader_line(struct jp_reader *reader, struct jp_span *line);

/* Sees to it that the rest has `size` bytes, if there are so many. */
void jp_reader_peek(struct jp_reader *reader, size_t size);

/* What was found where a number should be. */
enum jp_number { JP_NUMBER_OK, JP_NUMBER_NONE, JP_NUMBER_TOO_BIG };

enum jp_number jp_span_decimal(struct jp_span *span, uint64_t *value);
enum jp_number jp_span_hex(struct jp_span *span, uint64_t *value);

/* Eats up to `most` addresses of the usual length, " 0x" and twelve digits, each with a blank behind it, and puts them
 * to `values`. How many: what is left begins with something else, or with the last one. */
size_t jp_span_addresses(struct jp_span *span, uint64_t *values, size_t most);

/* Eats blanks and tabs. */
void jp_span_blanks(struct jp_span *span);

/* Eats `c` or `text` if the span starts with it. */
bool jp_span_char(struct jp_span *span, char c);
bool jp_span_text(struct jp_span *span, const char *text);

/* Eats what stands before the next tab, which goes with it. */
struct jp_span jp_span_field(struct jp_span *span);

bool jp_span_starts(struct jp_span span, const char *text);
bool jp_span_ends(struct jp_span span, const char *text);

/* Binary data in the byte order given. After a read past the end `bad` is set and all values are 0. */
struct jp_bytes {
	const unsigned char *data;
	size_t len;
	size_t pos;
	bool big_endian;
	bool bad;
};

static inline uint32_t jp_little_word(const unsigned char *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void jp_bytes_seek(struct jp_bytes *bytes, uint64_t pos);
uint64_t jp_bytes_uint(struct jp_bytes *bytes, unsigned size); /* size 1, 2, 4 or 8 */
int64_t jp_bytes_sint(struct jp_bytes *bytes, unsigned size);
uint64_t jp_bytes_uleb(struct jp_bytes *bytes);
int64_t jp_bytes_sleb(struct jp_bytes *bytes);
const char *jp_bytes_cstr(struct jp_bytes *bytes); /* NULL when no NUL ends it */
