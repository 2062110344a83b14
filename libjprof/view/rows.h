/* Rows under construction: the names under which values are added up, at each granularity. */
#pragma once

#include "base/strbuf.h"
#include "model/code.h"
#include "view/group.h"
#include "view/owner.h"

/* Rows have ids that count up from 0 in the order of first sight. */
struct jp_rows {
	const struct jp_code *code;
	const uint32_t *location_of;      /* by frame */
	const struct jp_origins *origins; /* NULL: there is no Ruby */
	const struct jp_intern *tags;     /* the profile's */
	const char *trim;                 /* as jprof_view_opts.trim_path has it */
	enum jprof_granularity granularity;
	bool full_names;
	struct jp_intern names;
	uint32_t *object; /* by row: where it was seen first */
	size_t object_cap;
	uint32_t *of_frame;  /* by frame id, JP_NONE: not asked for yet */
	uint32_t *of_object; /* by object id, likewise */
	struct jp_strbuf text;
	uint32_t *objects; /* of the stack under way */
	size_t objects_cap;
	struct jp_roles roles;  /* of rows that are those of stacks */
	struct jp_pairs owners; /* (object, extension for which it owns) */
	uint32_t *of_owner;     /* by owner */
	size_t of_owner_cap;
	uint32_t *of_label;            /* by label of origins, as of_object */
	struct jp_groups groups;       /* by kind and by group */
	const struct jp_rule **of_row; /* likewise: what more is known of a row, or NULL */
	size_t of_row_cap;
};

/* The rows of one stack: struct jp_view_path. */
struct jp_path {
	uint32_t *rows;
	size_t inner, count, cap;
};

/* Release in either case. Code and locations must outlive the rows. */
int jp_rows_init(struct jp_rows *rows, const struct jp_code *code, const uint32_t *location_of,
                 const struct jprof_view_opts *opts, struct jprof_error *err);

/* Makes rows for frames. 0, or -1 when memory is short. */
int jp_rows_of_frames(struct jp_rows *rows, uint32_t first, uint32_t count) jp_must_check;

/* Whether rows are kinds or groups. */
static inline bool jp_rows_are_groups(enum jprof_granularity granularity)
{
	return granularity == JPROF_BY_KIND || granularity == JPROF_BY_GROUP;
}

/* Whether rows are those of stacks, by their paths: by library, by kind, by group, by tag. */
static inline bool jp_rows_by_path(enum jprof_granularity granularity)
{
	return granularity == JPROF_BY_LIBRARY || granularity == JPROF_BY_TAG || jp_rows_are_groups(granularity);
}

/* Makes `path` that of a stack of locations. By library: its owner, and the object files that called it; inside of the
 * path all up to the owner's own. Else its kind, group or tag alone. 0, or -1 when memory is short. */
int jp_rows_path(struct jp_rows *rows, const uint32_t *places, size_t depth, uint32_t tag,
                 struct jp_path *path) jp_must_check;

void jp_rows_release(struct jp_rows *rows);
