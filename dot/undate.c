#include "undate.h"

#include <string.h>

/* Replaces what begins with `date` up to the character `end`, which goes if it is a parenthesis. */
static void replace(char *data, size_t len, const char *date, char end, const char *title)
{
	char *at = memmem(data, len, date, strlen(date));
	char *stop = at ? memchr(at, end, len - (size_t)(at - data)) : NULL;
	size_t room = stop ? (size_t)(stop - at) + (end == ')') : 0;
	if (room < strlen(title) || room > 64)
		return;
	memset(at, ' ', room);
	memcpy(at, title, strlen(title));
}

void dot_undate_pdf(char *data, size_t len)
{
	replace(data, len, "/CreationDate (", ')', "/Title (jprof call graph)");
}

void dot_undate_ps(char *data, size_t len)
{
	replace(data, len, "%%CreationDate: ", '\n', "%%Title: jprof call graph");
}
