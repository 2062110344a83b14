#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/strbuf.h"

static void copy_visible(char *to, size_t size, const char *from)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_visible(&text, from);
	snprintf(to, size, "%s", text.text ? text.text : "");
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
