#include "base/utf8.h"

#include <string.h>

/* RFC 3629, section 4: by the first byte, how many follow and what the second may be. */
struct form {
	unsigned char first, last, follow, low, high;
};

static const struct form forms[] = {
	{ 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
	{ 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
	{ 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
};

static const struct form *form_of(unsigned char first)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (first >= forms[i].first && first <= forms[i].last)
			return &forms[i];
	return NULL;
}

size_t jp_utf8_decode(const char *s, size_t len, uint32_t *code)
{
	const unsigned char *bytes = (const unsigned char *)s;
	const struct form *form = form_of(*bytes);
	if (!form || form->follow >= len)
		return 0;
	*code = form->follow ? *bytes & (0x3fu >> form->follow) : *bytes;
	for (size_t i = 1; i <= form->follow; i++) {
		if (bytes[i] < (i == 1 ? form->low : 0x80) || bytes[i] > (i == 1 ? form->high : 0xbf))
			return 0;
		*code = *code << 6 | (bytes[i] & 0x3f);
	}
	return 1 + (size_t)form->follow;
}

/* Eight bytes at a time: the high bit of a byte of `other` says that it is below 0x20, 0x7f or above. A borrow or a
 * carry can only come from such a byte. */
size_t jp_ascii_run(const char *s, size_t len)
{
	static const uint64_t each = UINT64_C(0x0101010101010101);
	size_t i = 0;
	for (uint64_t t; len - i >= sizeof t; i += sizeof t) {
		memcpy(&t, s + i, sizeof t);
		uint64_t other = (t | (t - 0x20 * each) | (t + each)) & 0x80 * each;
		if (other)
			break;
	}
	while (i < len && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x7f)
		i++;
	return i;
}

size_t jp_utf8_len(const char *s)
{
	uint32_t code;
	return jp_utf8_decode(s, strnlen(s, 4), &code);
}
