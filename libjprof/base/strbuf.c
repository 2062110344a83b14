#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tenths.h"
#include "base/utf8.h"
#include "jprof.h"

static bool strbuf_reserve(struct jp_strbuf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (more < buf->cap - buf->len)
		return true;
	buf->failed = more > SIZE_MAX - buf->len - 1 ||
	              jp_array_reserve(&buf->text, &buf->cap, buf->len + more + 1, sizeof *buf->text);
	return !buf->failed;
}

void jp_strbuf_add(struct jp_strbuf *buf, const void *data, size_t len)
{
	if (!strbuf_reserve(buf, len))
		return;
	if (len)
		memcpy(buf->text + buf->len, data, len);
	buf->len += len;
	buf->text[buf->len] = '\0';
}

void jp_strbuf_str(struct jp_strbuf *buf, const char *s)
{
	jp_strbuf_add(buf, s, strlen(s));
}

void jp_strbuf_printf(struct jp_strbuf *buf, const char *fmt, ...)
{
	enum { mostly = 128 };
	va_list args, again;
	if (!strbuf_reserve(buf, mostly))
		return;
	size_t room = buf->cap - buf->len;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(buf->text + buf->len, room, fmt, args);
	bool fits = n >= 0 && (size_t)n < room;
	buf->text[fits ? buf->len + (size_t)n : buf->len] = '\0';
	if (n < 0)
		buf->failed = true;
	else if (!fits && strbuf_reserve(buf, (size_t)n))
		vsnprintf(buf->text + buf->len, (size_t)n + 1, fmt, again);
	if (!buf->failed)
		buf->len += (size_t)n;
	va_end(again);
	va_end(args);
}

void jp_strbuf_uint(struct jp_strbuf *buf, uint64_t value, unsigned size)
{
	unsigned char bytes[sizeof value];
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	jp_strbuf_add(buf, bytes, size);
}

void jp_strbuf_uleb(struct jp_strbuf *buf, uint64_t value)
{
	char bytes[jp_longest_uleb];
	jp_strbuf_add(buf, bytes, (size_t)(jp_put_uleb(bytes, value) - bytes));
}

void jp_strbuf_whole(struct jp_strbuf *buf, double value)
{
	if (strbuf_reserve(buf, jp_tenths_size))
		buf->len += jp_put_whole(buf->text + buf->len, jp_tenths_size, value);
}

void jp_strbuf_right(struct jp_strbuf *buf, const char *s, size_t width)
{
	size_t len = strlen(s), all = len < width ? width : len;
	if (!strbuf_reserve(buf, all))
		return;
	memset(buf->text + buf->len, ' ', all - len);
	memcpy(buf->text + buf->len + all - len, s, len + 1);
	buf->len += all;
}

void jp_strbuf_grouped(struct jp_strbuf *buf, uint64_t count, size_t width)
{
	char text[32], *at = text + sizeof text - 1;
	*at = '\0';
	for (unsigned digits = 0; count || !digits; digits++, count /= 10) {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + count % 10);
	}
	jp_strbuf_right(buf, at, width);
}

void jp_strbuf_visible_bytes(struct jp_strbuf *buf, const char *s, size_t len)
{
	for (size_t run; len; s += run, len -= run) {
		size_t n = 1;
		for (run = jp_ascii_run(s, len); n && run < len; run += n)
			n = jprof_visible_len(s + run, len - run);
		jp_strbuf_add(buf, s, run);
		if (!run)
			jp_strbuf_printf(buf, "\\x%02x", (unsigned)(unsigned char)s[run++]);
	}
}

void jp_strbuf_visible(struct jp_strbuf *buf, const char *s)
{
	jp_strbuf_visible_bytes(buf, s, strlen(s));
}

void jp_strbuf_utf8(struct jp_strbuf *buf, const char *s)
{
	size_t len = strlen(s);
	for (size_t run; len; s += run, len -= run) {
		size_t n = 1;
		for (run = jp_ascii_run(s, len); n && s[run]; run += n)
			n = jp_utf8_len(s + run);
		jp_strbuf_add(buf, run ? s : JP_UTF8_REPLACEMENT, run ? run : sizeof JP_UTF8_REPLACEMENT - 1);
		run += !run;
	}
}

void jp_strbuf_line(struct jp_strbuf *buf, const char *s)
{
	const char *end = s + strlen(s);
	for (size_t n; *s; s += n ? n : 1) {
		size_t plain = jp_ascii_run(s, (size_t)(end - s));
		n = plain ? plain : jp_utf8_len(s);
		if (!n)
			jp_strbuf_str(buf, JP_UTF8_REPLACEMENT);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			jp_strbuf_printf(buf, "\\x%02x", (unsigned)(unsigned char)*s);
		else
			jp_strbuf_add(buf, s, n);
	}
}

void jp_strbuf_cut(struct jp_strbuf *buf, size_t len)
{
	if (len < buf->len) {
		buf->len = len;
		buf->text[len] = '\0';
	}
}

void jp_strbuf_flush(struct jp_strbuf *buf)
{
	if (!buf->failed && !buf->refused && buf->len && buf->write(buf->context, buf->text, buf->len))
		buf->refused = true;
	jp_strbuf_cut(buf, 0);
}

void jp_strbuf_drain(struct jp_strbuf *buf)
{
	enum { piece = 1 << 16 };
	if (buf->write && buf->len >= piece)
		jp_strbuf_flush(buf);
}

void jp_strbuf_release(struct jp_strbuf *buf)
{
	free(buf->text);
	*buf = (struct jp_strbuf){ 0 };
}
