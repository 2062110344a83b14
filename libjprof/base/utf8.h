/* Names from dumps are bytes of any kind; formats that ask for UTF-8 get it through here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What stands for a byte that is part of no character. */
#define JP_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* How many bytes the character at `s` has; 0 if what stands there is none: not the shortest form, a surrogate,
 * above U+10FFFF, cut by the NUL that ends the string. Not at its end. */
size_t jp_utf8_len(const char *s);

/* The same of the first of `len` bytes, of which there is at least one and any may be NUL; *code is the character's
 * number where there is one. */
size_t jp_utf8_decode(const char *s, size_t len, uint32_t *code);

/* How many of the first `len` bytes, up to the first other one, are printable ASCII: nearly all of most names. */
size_t jp_ascii_run(const char *s, size_t len);
