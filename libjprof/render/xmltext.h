/* Text in XML and HTML. */
#pragma once

#include "base/strbuf.h"

/* Adds `text` as people may be shown it (jp_strbuf_visible) to the content of an element or to a quoted attribute:
 * nothing in it can become markup, and all of it are characters that XML 1.0 has. */
void jp_put_xml(struct jp_strbuf *out, const char *text);
