/* What kind of memory is it, and whose: the answer for people that explain gives. It needs no symbols, except to tell
 * what an interpreter allocated it for. */
#ifndef JP_VIEW_GROUP_H
#define JP_VIEW_GROUP_H

#include "base/strbuf.h"
#include "model/code.h"

/* A stack that has places, innermost first: their locations and objects. The first `native` of them are native, the
 * others are Ruby's. */
struct jp_group_stack {
	const struct jp_code *code;
	const uint32_t *places, *objects;
	size_t native;
};

/* Whether an interpreter of Ruby is among the mapped files. */
bool jp_maps_ruby(const struct jp_code *code);

/* Writes the stack's kind, "native gems", and with `group` also whose it is, "native gems: nokogiri 1.16.2". */
void jp_put_group(const struct jp_group_stack *stack, bool has_ruby, bool group, struct jp_strbuf *out);

#endif
