#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* As jp_strbuf_visible, without memory of its own: an error about memory must not need any. */
static void copy_visible(char *to, size_t size, const char *from)
{
	size_t len = 0;
	*to = '\0';
	for (; *from && len < size - 1; from++) {
		unsigned char c = (unsigned char)*from;
		int n = snprintf(to + len, size - len, c < 0x20 || c == 0x7f ? "\\x%02x" : "%c", c);
		len += (size_t)n < size - len ? (size_t)n : size - len - 1;
	}
}

int jp_error(struct jprof_error *err, int code, const char *path, unsigned line, const char *fmt, ...)
{
	if (!err)
		return code;
	char text[sizeof err->text];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	err->code = code;
	err->line = line;
	copy_visible(err->path, sizeof err->path, path ? path : "");
	copy_visible(err->text, sizeof err->text, text);
	return code;
}

int jp_error_nomem(struct jprof_error *err)
{
	return jp_error(err, JPROF_E_NOMEM, NULL, 0, "out of memory");
}
