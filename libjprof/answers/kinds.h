/* Kinds of memory: the groups of each kind, added up. */
#pragma once

#include "view/view.h"

/* Rows as those of a view by kind: name, flat and flat_range, the largest first, none of 0. Zero bytes are none. */
struct jp_kinds {
	struct jprof_row *rows;
	size_t count;
	struct jp_intern names;
};

/* Of a view by group with errors; NULL has none. 0, or -1 when memory is short; to be released in either case. */
int jp_kinds_of(struct jp_kinds *kinds, const struct jprof_view *groups) jp_must_check;
void jp_kinds_release(struct jp_kinds *kinds);

/* The row of a name; NULL: there is none. */
const struct jprof_row *jp_kind_called(const struct jp_kinds *kinds, const char *name);

/* The group's own name if it is of this kind, else NULL: "String" of "Ruby data: String". */
const char *jp_name_in_kind(const char *group, const char *kind);
