#include "textbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_ROOM = 16 << 10, READ_SIZE = 8 << 10 };

static void *bigger(struct textbuf *text, size_t cap)
{
	if (text->data)
		return mremap(text->data, text->cap, cap, MREMAP_MAYMOVE);
	return mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Room for `more` bytes and a NUL. */
static bool reserve(struct textbuf *text, size_t more)
{
	size_t cap = text->cap ? text->cap : FIRST_ROOM;
	if (text->failed || more > SIZE_MAX / 4 - text->len) {
		text->failed = true;
		return false;
	}
	while (cap <= text->len + more)
		cap *= 2;
	if (cap == text->cap)
		return true;
	void *data = bigger(text, cap);
	text->failed = data == MAP_FAILED;
	if (text->failed)
		return false;
	text->data = data;
	text->cap = cap;
	return true;
}

void textbuf_add(struct textbuf *text, const void *data, size_t len)
{
	if (!reserve(text, len))
		return;
	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = 0;
}

void textbuf_str(struct textbuf *text, const char *s)
{
	textbuf_add(text, s, strlen(s));
}

void textbuf_printf(struct textbuf *text, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0 || !reserve(text, (size_t)len)) {
		text->failed = true;
		return;
	}
	va_start(args, fmt);
	vsnprintf(text->data + text->len, (size_t)len + 1, fmt, args);
	va_end(args);
	text->len += (size_t)len;
}

/* Length of the UTF-8 sequence at `s` as RFC 3629 has it, 0 if there is none. */
static size_t utf8_len(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high; /* of the first byte, and of the second */
		size_t len;
	} forms[] = {
		{ 0x00, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

static void json_char(struct textbuf *text, const char *s, size_t len)
{
	if (len == 0)
		textbuf_str(text, "\\ufffd");
	else if ((unsigned char)*s < 0x20)
		textbuf_printf(text, "\\u%04x", *s);
	else if (*s == '"' || *s == '\\')
		textbuf_printf(text, "\\%c", *s);
	else
		textbuf_add(text, s, len);
}

void textbuf_json(struct textbuf *text, const char *s)
{
	if (!s) {
		textbuf_str(text, "null");
		return;
	}
	textbuf_str(text, "\"");
	while (*s) {
		size_t len = utf8_len((const unsigned char *)s);
		json_char(text, s, len);
		s += len ? len : 1;
	}
	textbuf_str(text, "\"");
}

int textbuf_write(const struct textbuf *text, int fd)
{
	if (text->failed)
		return ENOMEM;
	for (size_t done = 0; done < text->len;) {
		ssize_t n = write(fd, text->data + done, text->len - done);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

int textbuf_read(struct textbuf *text, int fd)
{
	ssize_t n = 1;
	while (n != 0) {
		if (!reserve(text, READ_SIZE))
			return ENOMEM;
		n = read(fd, text->data + text->len, READ_SIZE);
		if (n < 0 && errno != EINTR)
			return errno;
		text->len += n > 0 ? (size_t)n : 0;
		text->data[text->len] = 0;
	}
	return 0;
}

void textbuf_free(struct textbuf *text)
{
	if (text->data)
		munmap(text->data, text->cap);
	memset(text, 0, sizeof *text);
}
