/* Which code finds names: what it answered may only be kept for the very same code. */
#pragma once

#include "base/strbuf.h"

/* Adds the build-ids of this library and of those that read symbols and debug information for it. False where this
 * library has none, or memory is short (text->failed). */
bool jp_answerer_describe(struct jp_strbuf *text);
