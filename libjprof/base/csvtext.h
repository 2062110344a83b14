/* Text in a field of CSV (RFC 4180). */
#pragma once

#include "base/strbuf.h"

/* Adds what jprof_csv_text gives; NULL is an empty text. */
void jp_csv_put_text(struct jp_strbuf *out, const char *s);
