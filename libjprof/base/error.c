#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	err->advice = JPROF_ADVICE_NONE;
	err->line = line;
	err->column = 0;
	jprof_visible(path ? path : "", err->path, sizeof err->path);
	jprof_visible(text, err->text, sizeof err->text);
	return code;
}

const char jp_no_more[] = "";

int jp_null_of(struct jprof_error *err, const char *function, const void *const *given)
{
	while (*given && *given != jp_no_more)
		given++;
	return *given ? 0
	              : jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
	                         "%s: NULL was given where it must not be; its comment in the header says where it may",
	                         function);
}

int jp_advise(struct jprof_error *err, enum jprof_advice advice, int code)
{
	if (err)
		err->advice = advice;
	return code;
}

static const char *const advice_texts[] = {
	[JPROF_ADVICE_FILE] = "give the file that ran",
	[JPROF_ADVICE_PERF_MAP] = "give the list of its code that the JIT compiler wrote",
	[JPROF_ADVICE_MAPS] = "give the process's maps",
};

const char *jp_advice_text(enum jprof_advice advice)
{
	return advice < jp_count(advice_texts) && advice_texts[advice] ? advice_texts[advice] : "";
}

enum jprof_advice jp_advice_of(const char *text)
{
	for (size_t i = 0; text && i < jp_count(advice_texts); i++)
		if (advice_texts[i] && !strncmp(text, advice_texts[i], strlen(advice_texts[i])))
			return (enum jprof_advice)i;
	return JPROF_ADVICE_NONE;
}

const char *jprof_error_line(const struct jprof_error *err, char *line, size_t size)
{
	char place[32] = "";
	if (!line || !size)
		return "";
	if (!err) {
		*line = '\0';
		return line;
	}
	if (err->line && err->column)
		snprintf(place, sizeof place, ":%u:%u", err->line, err->column);
	else if (err->line)
		snprintf(place, sizeof place, ":%u", err->line);
	snprintf(line, size, "%s%s%s%s", err->path, *err->path ? place : "", *err->path ? ": " : "", err->text);
	return line;
}
