#include "pdf.h"

#include <string.h>

void dot_dress_pdf(char *data, size_t len)
{
	static const char date[] = "/CreationDate (", title[] = "/Title (jprof call graph)";
	char *at = memmem(data, len, date, sizeof date - 1);
	char *end = at ? memchr(at, ')', len - (size_t)(at - data)) : NULL;
	size_t room = end ? (size_t)(end + 1 - at) : 0;
	if (room < sizeof title - 1 || room > 64)
		return;
	memset(at, ' ', room);
	memcpy(at, title, sizeof title - 1);
}
