#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

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
	jprof_visible(path ? path : "", err->path, sizeof err->path);
	jprof_visible(text, err->text, sizeof err->text);
	return code;
}

int jp_error_nomem(struct jprof_error *err)
{
	return jp_error(err, JPROF_E_NOMEM, NULL, 0, "out of memory");
}
