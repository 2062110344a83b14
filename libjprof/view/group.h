/* What kind of memory is it, and whose: the answer for people. It needs no symbols, except to tell what an interpreter
 * allocated it for. */
#pragma once

#include "base/strbuf.h"
#include "model/code.h"
#include "view/owner.h"
#include "view/rules.h"

struct jp_groups {
	const struct jp_code *code;
	bool has_ruby; /* an interpreter of Ruby is mapped */
	struct jp_rules rules;
	uint32_t *of_function; /* the rule of each function; JP_NONE: not asked for yet */
	uint32_t *of_library;  /* likewise, of each object file */
};

/* A stack that has places, innermost first: their locations and objects. The first `native` of them are native, the
 * others are Ruby's. */
struct jp_group_stack {
	const uint32_t *places, *objects;
	size_t depth, native;
	const struct jp_roles *roles;
};

/* `given` are rules of the caller's own (jprof_view_opts.rules). To be released in either case. */
int jp_groups_init(struct jp_groups *groups, const struct jp_code *code, struct jp_span given, struct jprof_error *err);
void jp_groups_release(struct jp_groups *groups);

/* Writes the stack's kind, "native gems", and with `group` also whose it is, "native gems: nokogiri 1.16.2"; of an
 * extension that came with Ruby "Ruby's own extensions: zlib.so". Returns the rule that says more of it, or NULL. */
const struct jp_rule *jp_put_group(struct jp_groups *groups, const struct jp_group_stack *stack, bool group,
                                   struct jp_strbuf *out);
