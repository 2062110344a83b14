#include "cli/longtext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shortage.h"
#include "jprof.h"

void long_text_add(struct long_text *to, const char *fmt, ...)
{
	char *words;
	va_list args;
	va_start(args, fmt);
	int len = vasprintf(&words, fmt, args);
	va_end(args);
	if (shortage_unprinted(len))
		return;
	char *all = shortage_note(realloc(to->text, to->len + (size_t)len + 1));
	if (all) {
		memcpy(all + to->len, words, (size_t)len + 1);
		*to = (struct long_text){ all, to->len + (size_t)len };
	}
	free(words);
}

void long_text_name(struct long_text *to, const char *name)
{
	enum { most_for_byte = 4 };
	size_t size = most_for_byte * strlen(name) + 1;
	char *visible = shortage_note(malloc(size));
	if (!visible)
		return;
	jprof_visible(name, visible, size);
	long_text_add(to, "%s", visible);
	free(visible);
}

const char *long_text_of(const struct long_text *text)
{
	return text->text ? text->text : "";
}

void long_text_end(struct long_text *text)
{
	free(text->text);
	*text = (struct long_text){ 0 };
}
