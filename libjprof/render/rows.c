#include "render/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ops/owner.h"

static uint32_t *unknown(size_t count)
{
	uint32_t *rows = malloc((count + 1) * sizeof *rows);
	if (rows)
		memset(rows, 0xff, (count + 1) * sizeof *rows);
	return rows;
}

int jp_rows_init(struct jp_rows *rows, const struct jprof_profile *profile, const struct jprof_view_opts *opts)
{
	*rows = (struct jp_rows){ .profile = profile, .opts = opts };
	rows->of_frame = unknown(profile->frame_count);
	rows->of_object = unknown(jp_object_count(profile));
	return rows->of_frame && rows->of_object ? 0 : -1;
}

void jp_rows_release(struct jp_rows *rows)
{
	jp_intern_release(&rows->names);
	free(rows->origins);
	free(rows->of_frame);
	free(rows->of_object);
	jp_strbuf_release(&rows->text);
}

static const char *shown_name(const struct jp_rows *r, const struct jp_function *f)
{
	return jp_string(r->profile, r->opts->full_names ? f->name : f->brief);
}

static void add_line(struct jp_rows *r, const struct jp_function *f, unsigned line)
{
	if (f->file == JP_NONE)
		jp_strbuf_str(&r->text, "??:0");
	else
		jp_strbuf_printf(&r->text, "%s:%u", jp_string(r->profile, f->file), line);
}

/* Rows are named as jeprof names them: "name (inline)", "name file:line", "file", "address name file:line". */
static void name_row(struct jp_rows *r, const struct jp_location *l, const struct jp_frame *frame)
{
	const struct jp_function *f = &r->profile->functions[frame->function];
	enum jprof_granularity by = r->opts->granularity;
	jp_strbuf_cut(&r->text, 0);
	if (by == JPROF_BY_FILE) {
		if (f->file != JP_NONE)
			jp_strbuf_str(&r->text, jp_string(r->profile, f->file));
		else
			jp_strbuf_printf(&r->text, "%s (no lines)",
			                 jp_basename(jp_string(r->profile, r->profile->objects[l->object].path)));
		return;
	}
	if (by == JPROF_BY_ADDRESS)
		jp_strbuf_printf(&r->text, "%016llx ", (unsigned long long)l->address);
	jp_strbuf_str(&r->text, shown_name(r, f));
	if (frame->inlined)
		jp_strbuf_str(&r->text, " (inline)");
	if (by != JPROF_BY_FUNCTION && (l->source > JPROF_SOURCE_FDE || f->file != JP_NONE)) {
		jp_strbuf_str(&r->text, " ");
		add_line(r, f, frame->line);
	}
}

/* The row named by r->text; `origin` is where it was met. */
static uint32_t row_named(struct jp_rows *r, struct jp_row_origin origin)
{
	uint32_t known = r->names.count;
	if (r->text.failed || jp_array_push(r->origins, known, r->origin_cap))
		return JP_NONE;
	uint32_t row = jp_intern(&r->names, r->text.text, r->text.len);
	if (row == known && row != JP_NONE)
		r->origins[row] = origin;
	return row;
}

uint32_t jp_row_of_frame(struct jp_rows *r, const struct jp_location *l, uint32_t frame)
{
	uint32_t *row = &r->of_frame[frame];
	if (*row == JP_NONE) {
		name_row(r, l, &r->profile->frames[frame]);
		*row = row_named(r, (struct jp_row_origin){ l->object, frame });
	}
	return *row;
}

uint32_t jp_row_of_object(struct jp_rows *r, uint32_t object)
{
	uint32_t *row = &r->of_object[object];
	if (*row == JP_NONE) {
		jp_strbuf_cut(&r->text, 0);
		jp_object_label(r->profile, object, &r->text);
		*row = row_named(r, (struct jp_row_origin){ object, JP_NONE });
	}
	return *row;
}

uint32_t jp_row_of_owner(struct jp_rows *r, const uint32_t *stack, size_t depth)
{
	size_t at = jp_owner_place(r->profile, stack, depth);
	jp_strbuf_cut(&r->text, 0);
	jp_owner_label(r->profile, stack, depth, &r->text);
	return row_named(r, (struct jp_row_origin){ r->profile->locations[stack[at]].object, JP_NONE });
}

static int path_add(struct jp_path *path, uint32_t row)
{
	if (row == JP_NONE || jp_array_push(path->rows, path->count, path->cap))
		return -1;
	path->rows[path->count++] = row;
	return 0;
}

static int path_by_library(struct jp_rows *r, const uint32_t *stack, size_t depth, struct jp_path *path)
{
	if (!depth)
		return 0;
	size_t owner = jp_owner_place(r->profile, stack, depth);
	uint32_t before = r->profile->locations[stack[owner]].object;
	int rc = path_add(path, jp_row_of_owner(r, stack, depth));
	for (size_t i = owner + 1; !rc && i < depth; i++) {
		uint32_t object = r->profile->locations[stack[i]].object;
		if (object != before)
			rc = path_add(path, jp_row_of_object(r, object));
		before = object;
	}
	return rc;
}

int jp_rows_path(struct jp_rows *r, const uint32_t *stack, size_t depth, struct jp_path *path)
{
	path->count = 0;
	if (r->opts->granularity == JPROF_BY_LIBRARY)
		return path_by_library(r, stack, depth, path);
	for (size_t i = 0; i < depth; i++) {
		const struct jp_location *l = &r->profile->locations[stack[i]];
		for (uint32_t f = 0; f < l->frame_count; f++)
			if (path_add(path, jp_row_of_frame(r, l, l->frame_first + f)))
				return -1;
	}
	return 0;
}
