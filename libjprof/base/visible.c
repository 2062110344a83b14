#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "jprof.h"

/* What Unicode has in the categories Cc, Cf, Zl and Zp (DerivedGeneralCategory.txt of Unicode 15.1), whole rows of it
 * where more may be added, and its noncharacters of the first plane: in order. */
static const struct {
	uint32_t first, last;
} unseen[] = {
	{ 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad },   { 0x0600, 0x0605 },   { 0x061c, 0x061c },
	{ 0x06dd, 0x06dd },   { 0x070f, 0x070f },   { 0x0890, 0x0891 },   { 0x08e2, 0x08e2 },   { 0x180e, 0x180e },
	{ 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff },
	{ 0xfff0, 0xfffb },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool is_shown(uint32_t code)
{
	if ((code & 0xfffe) == 0xfffe)
		return false;
	for (size_t i = 0; i < jp_count(unseen) && code >= unseen[i].first; i++)
		if (code <= unseen[i].last)
			return false;
	return true;
}

size_t jprof_visible_len(const char *s, size_t len)
{
	uint32_t code;
	size_t n = s && len ? jp_utf8_decode(s, len, &code) : 0;
	return n && is_shown(code) ? n : 0;
}

void jprof_visible(const char *text, char *to, size_t size)
{
	size_t left = text ? strlen(text) : 0;
	if (!to)
		return;
	for (size_t n, wide; left; text += n, left -= n, to += wide, size -= wide) {
		n = jprof_visible_len(text, left);
		wide = n ? n : sizeof "\\xNN" - 1;
		if (wide >= size)
			break;
		if (n)
			memcpy(to, text, n);
		else
			snprintf(to, size, "\\x%02x", (unsigned)(unsigned char)text[n++]);
	}
	if (size)
		*to = '\0';
}
