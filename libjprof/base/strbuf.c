#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool reserve(struct jp_strbuf *buf, size_t more)
{
	if (!buf->failed &&
	    (more > SIZE_MAX - buf->len - 1 || jp_array_reserve(&buf->text, &buf->cap, buf->len + more + 1, 1)))
		buf->failed = true;
	return !buf->failed;
}

void jp_strbuf_add(struct jp_strbuf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
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
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	if (n < 0)
		buf->failed = true;
	else if (reserve(buf, (size_t)n)) {
		vsnprintf(buf->text + buf->len, (size_t)n + 1, fmt, again);
		buf->len += (size_t)n;
	}
	va_end(again);
	va_end(args);
}

void jp_strbuf_visible(struct jp_strbuf *buf, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < 0x20 || c == 0x7f)
			jp_strbuf_printf(buf, "\\x%02x", c);
		else
			jp_strbuf_add(buf, s, 1);
	}
}

void jp_strbuf_cut(struct jp_strbuf *buf, size_t len)
{
	if (len < buf->len) {
		buf->len = len;
		buf->text[len] = '\0';
	}
}

void jp_strbuf_release(struct jp_strbuf *buf)
{
	free(buf->text);
	*buf = (struct jp_strbuf){ 0 };
}
