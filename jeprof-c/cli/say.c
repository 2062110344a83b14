#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *fmt, ...)
{
	char text[2048], shown[4 * sizeof text];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	/* One line, whatever was in a name that went into it. */
	jprof_visible(text, shown, sizeof shown);
	fprintf(stderr, "jprof: %s\n", shown);
}

void say_error(const struct jprof_error *err)
{
	if (*err->path && err->line)
		say("%s:%u: %s", err->path, err->line, err->text);
	else if (*err->path)
		say("%s: %s", err->path, err->text);
	else
		say("%s", err->text);
}
