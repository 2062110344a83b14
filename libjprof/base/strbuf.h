/* Text that grows. Once memory was short, `failed` stays set and later calls do nothing,
 * so that a caller checks once at the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/* A buffer of zero bytes is empty and ready for use; `text` is NUL-terminated once non-NULL. */
struct jp_strbuf {
	char *text;
	size_t len;
	size_t cap;
	bool failed;

	/* Where drained text goes; NULL: nowhere, all of it is kept. */
	int (*write)(void *context, const void *data, size_t len);
	void *context;
	bool refused; /* `write` returned other than 0: what follows is dropped */
};

void jp_strbuf_add(struct jp_strbuf *buf, const void *data, size_t len);
void jp_strbuf_str(struct jp_strbuf *buf, const char *s);
void jp_strbuf_printf(struct jp_strbuf *buf, const char *fmt, ...) jp_printf(2, 3);

/* Adds the low `size` bytes of a number, up to 8, the lowest first. */
void jp_strbuf_uint(struct jp_strbuf *buf, uint64_t value, unsigned size);

enum { jp_longest_uleb = 10 };

/* Writes a number as ULEB128, a varint: seven bits a byte, the lowest first, and the eighth where more follow. Returns
 * where it ends. */
static inline char *jp_put_uleb(char *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

/* Adds such a number. */
void jp_strbuf_uleb(struct jp_strbuf *buf, uint64_t value);

/* Adds the whole part of a number, as jp_put_whole writes it. */
void jp_strbuf_whole(struct jp_strbuf *buf, double value);

/* Adds `s` with so many blanks before it that both have `width` bytes at least. */
void jp_strbuf_right(struct jp_strbuf *buf, const char *s, size_t width);

/* Adds a count as people read it, "1,540,233", likewise. */
void jp_strbuf_grouped(struct jp_strbuf *buf, uint64_t count, size_t width);

/* Adds `s` as people may be shown it, on one line: what jprof_visible_len does not let through becomes \xNN, so that a
 * name can neither break a row nor steer a terminal. */
void jp_strbuf_visible(struct jp_strbuf *buf, const char *s);
void jp_strbuf_visible_bytes(struct jp_strbuf *buf, const char *s, size_t len);

/* Adds `s` as a format for programs may have it: its characters as they are; bytes that are no UTF-8 become U+FFFD
 * each. The second is for one line: control characters of ASCII become \xNN. */
void jp_strbuf_utf8(struct jp_strbuf *buf, const char *s);
void jp_strbuf_line(struct jp_strbuf *buf, const char *s);

/* Between two parts of a report: hands over what has gathered, if that is worth a write and there is a `write`. */
void jp_strbuf_drain(struct jp_strbuf *buf);

/* Hands over all of it. */
void jp_strbuf_flush(struct jp_strbuf *buf);

/* Cuts the text to its first `len` bytes. */
void jp_strbuf_cut(struct jp_strbuf *buf, size_t len);

void jp_strbuf_release(struct jp_strbuf *buf);
