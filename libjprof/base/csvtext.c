#include "base/csvtext.h"

#include <string.h>

#include "base/utf8.h"
#include "jprof.h"

void jp_csv_put_text(struct jp_strbuf *out, const char *s)
{
	jp_strbuf_str(out, "\"");
	if (s && *s && strchr("=+-@", *s))
		jp_strbuf_str(out, "'");
	while (s && *s) {
		size_t len = jp_utf8_len(s);
		if (!len)
			jp_strbuf_str(out, JP_UTF8_REPLACEMENT);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			jp_strbuf_printf(out, "\\x%02x", (unsigned)(unsigned char)*s);
		else
			jp_strbuf_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : len);
		s += len ? len : 1;
	}
	jp_strbuf_str(out, "\"");
}

char *jprof_csv_text(const char *text)
{
	struct jp_strbuf out = { 0 };
	jp_csv_put_text(&out, text);
	if (!out.failed)
		return out.text;
	jp_strbuf_release(&out);
	return NULL;
}
