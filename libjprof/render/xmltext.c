#include "render/xmltext.h"

#include <string.h>

/* U+FFFE and U+FFFF, which are no characters, as UTF-8 has them. */
static bool is_no_character(const char *s)
{
	return !strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3);
}

void jp_put_xml(struct jp_strbuf *out, const char *text)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) visible = { 0 };
	jp_strbuf_visible(&visible, text);
	for (const char *s = visible.text ? visible.text : ""; *s; s++)
		switch (*s) {
		case '&': jp_strbuf_str(out, "&amp;"); break;
		case '<': jp_strbuf_str(out, "&lt;"); break;
		case '>': jp_strbuf_str(out, "&gt;"); break;
		case '"': jp_strbuf_str(out, "&quot;"); break;
		default:
			if (is_no_character(s)) {
				jp_strbuf_str(out, "\xef\xbf\xbd");
				s += 2;
			} else {
				jp_strbuf_add(out, s, 1);
			}
		}
	out->failed |= visible.failed;
}
