/* Text in a field of CSV (RFC 4180). */
#ifndef JP_BASE_CSVTEXT_H
#define JP_BASE_CSVTEXT_H

#include "base/strbuf.h"

/* Adds what jprof_csv_text gives; NULL is an empty text. */
void jp_csv_put_text(struct jp_strbuf *out, const char *s);

#endif
