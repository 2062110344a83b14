#include "render/pageframes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "view/store.h"
#include "view/whose.h"

uint32_t jp_page_string(struct jp_page_frames *frames, const char *text)
{
	if (!frames->strings.count && jp_intern_str(&frames->strings, "") == JP_NONE)
		return JP_NONE;
	jp_strbuf_cut(&frames->text, 0);
	jp_strbuf_visible(&frames->text, text);
	if (frames->text.failed)
		return JP_NONE;
	return jp_intern(&frames->strings, frames->text.text ? frames->text.text : "", frames->text.len);
}

const uint32_t *jp_page_cells(const struct jp_page_frames *frames, uint32_t frame)
{
	return (const void *)jp_intern_get(&frames->cells, frame);
}

void jp_page_frames_release(struct jp_page_frames *frames)
{
	jp_intern_release(&frames->strings);
	jp_intern_release(&frames->cells);
	jp_strbuf_release(&frames->text);
}

static int page_rows_init(struct jp_rows *rows, const struct jprof_view *v, enum jprof_granularity by,
                          struct jprof_error *err)
{
	const struct jprof_view_opts opts = { .granularity = by,
		                              .full_names = v->info.full_names,
		                              .trim_path = v->store->rows.trim };
	int rc = jp_rows_init(rows, &v->code, v->location_of, &opts, err);
	rows->origins = v->origins;
	rows->tags = &v->profile->tags;
	return rc;
}

int jp_page_names_init(struct jp_page_names *names, struct jp_page_frames *frames, const struct jprof_view *view,
                       struct jprof_error *err)
{
	*names = (struct jp_page_names){ .frames = frames, .view = view };
	int rc = page_rows_init(&names->functions, view, JPROF_BY_FUNCTION, err);
	if (!rc)
		rc = page_rows_init(&names->lines, view, JPROF_BY_LINE, err);
	if (!rc)
		rc = page_rows_init(&names->sites, view, JPROF_BY_SITE, err);
	if (!rc)
		rc = page_rows_init(&names->libraries, view, JPROF_BY_LIBRARY, err);
	if (!rc && !(names->number = jp_none_array((size_t)view->code.frame_count + view->code.location_count + 1)))
		rc = jp_error_nomem(err);
	return rc;
}

void jp_page_names_release(struct jp_page_names *names)
{
	jp_rows_release(&names->functions);
	jp_rows_release(&names->lines);
	jp_rows_release(&names->sites);
	jp_rows_release(&names->libraries);
	free(names->number);
	free(names->library);
	*names = (struct jp_page_names){ 0 };
}

/* The string of the row of a frame; JP_NONE when memory is short. */
static uint32_t row_string(struct jp_page_names *names, struct jp_rows *rows, uint32_t frame)
{
	if (jp_rows_of_frames(rows, frame, 1))
		return JP_NONE;
	return jp_page_string(names->frames, jp_intern_get(&rows->names, rows->of_frame[frame]));
}

static uint32_t page_cell(struct jp_page_names *names, enum jp_page_cell cell, uint32_t frame)
{
	const struct jprof_view *v = names->view;
	const struct jp_frame *f = &v->code.frames[frame];
	switch (cell) {
	case JP_PAGE_NAME: return row_string(names, &names->functions, frame);
	case JP_PAGE_SITE: return row_string(names, v->origins ? &names->sites : &names->functions, frame);
	case JP_PAGE_LINE_ROW: return row_string(names, &names->lines, frame);
	case JP_PAGE_FILE: return jp_page_string(names->frames, jp_code_file(&v->code, f->function));
	case JP_PAGE_LINE: return f->line;
	case JP_PAGE_OBJECT:
		return jp_page_string(names->frames, jp_code_object(&v->code, jp_frame_location(v, frame)->object));
	case JP_PAGE_WHOSE: return (uint32_t)jp_whose_frame(v, frame);
	case JP_PAGE_CELLS: break;
	}
	return 0;
}

uint32_t jp_page_frame(struct jp_page_names *names, uint32_t frame)
{
	uint32_t cells[JP_PAGE_CELLS];
	if (names->number[frame] != JP_NONE)
		return names->number[frame];
	for (int c = 0; c < JP_PAGE_CELLS; c++) {
		cells[c] = page_cell(names, (enum jp_page_cell)c, frame);
		if (cells[c] == JP_NONE && c != JP_PAGE_LINE)
			return JP_NONE;
	}
	return names->number[frame] = jp_intern(&names->frames->cells, cells, sizeof cells);
}

uint32_t jp_page_library(struct jp_page_names *names, uint32_t row)
{
	if (jp_array_push(names->library, row, names->library_cap))
		return JP_NONE;
	for (; names->library_count <= row; names->library_count++)
		names->library[names->library_count] = JP_NONE;
	uint32_t *string = &names->library[row];
	if (*string == JP_NONE)
		*string = jp_page_string(names->frames, jp_intern_get(&names->libraries.names, row));
	return *string;
}
