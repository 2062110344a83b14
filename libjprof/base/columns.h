/* How wide text is on a terminal, and text cut to a width. */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"

/* How many columns a character takes; NULL, or what is below 0: each takes one. */
typedef int jp_char_columns_fn(uint32_t character);

/* How many columns a text takes, which jp_strbuf_visible wrote. */
size_t jp_columns(const char *text, jp_char_columns_fn *columns_of);

/* Appends the text, but no more of it than fits into `room` columns: its two ends with "..." between them. Returns how
 * many columns that takes. */
size_t jp_put_cut(struct jp_strbuf *out, const char *text, size_t room, jp_char_columns_fn *columns_of);

/* Likewise, but what goes is the end; or what is before `tail`, a part of the text up to its end, if that fits at all.
 */
size_t jp_put_head(struct jp_strbuf *out, const char *text, size_t room, jp_char_columns_fn *columns_of);
size_t jp_put_tail(struct jp_strbuf *out, const char *text, const char *tail, size_t room,
                   jp_char_columns_fn *columns_of);
