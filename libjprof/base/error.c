#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* As jp_strbuf_visible, but without memory of its own: an error must be told when there is none left. */
static void copy_visible(char *to, size_t size, const char *from)
{
	for (; *from && size > 1; from++) {
		unsigned char c = (unsigned char)*from;
		bool plain = c >= 0x20 && c != 0x7f;
		int n = snprintf(to, size, plain ? "%c" : "\\x%02x", c);
		size_t fits = n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
		to += fits;
		size -= fits;
	}
	*to = '\0';
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
