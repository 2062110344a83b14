/* Rows: the names under which values are added up, at each granularity. A table and a graph of one view have
 * the same. */
#ifndef JP_RENDER_ROWS_H
#define JP_RENDER_ROWS_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Where a row was met first; `frame` is JP_NONE for rows of object files. */
struct jp_row_origin {
	uint32_t object;
	uint32_t frame;
};

/* Rows have ids that count up from 0 in the order of first sight. */
struct jp_rows {
	const struct jprof_profile *profile;
	const struct jprof_view_opts *opts;
	struct jp_intern names;
	struct jp_row_origin *origins; /* by row */
	size_t origin_cap;
	uint32_t *of_frame;  /* by frame id, JP_NONE: not asked for yet */
	uint32_t *of_object; /* by object id, likewise */
	struct jp_strbuf text;
};

/* 0, or -1 when memory is short; release in either case. Profile and options must outlive the rows. */
int jp_rows_init(struct jp_rows *rows, const struct jprof_profile *profile,
                 const struct jprof_view_opts *opts) jp_must_check;

/* The row of a frame of a location, of an object file, and of the owner of a stack that is not empty.
 * JP_NONE when memory is short. */
uint32_t jp_row_of_frame(struct jp_rows *rows, const struct jp_location *location, uint32_t frame);
uint32_t jp_row_of_object(struct jp_rows *rows, uint32_t object);
uint32_t jp_row_of_owner(struct jp_rows *rows, const uint32_t *stack, size_t depth);

/* The rows of one stack, innermost first. */
struct jp_path {
	uint32_t *rows;
	size_t count, cap;
};

/* Makes `path` that of a stack: its frames' rows; by library its owner's and those of the object files
 * that called it, each once in a run. 0, or -1 when memory is short. */
int jp_rows_path(struct jp_rows *rows, const uint32_t *stack, size_t depth, struct jp_path *path) jp_must_check;

void jp_rows_release(struct jp_rows *rows);

#endif
