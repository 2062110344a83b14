/* What the frames of several views are called, for a page that shows them all: each text once, and each frame once, so
 * that what the views have in common is the same there. */
#pragma once

#include "view/rows.h"
#include "view/view.h"

/* What the page knows of a frame. All but the line and whose it is are ids of strings. */
enum jp_page_cell {
	JP_PAGE_NAME,     /* rows by function, */
	JP_PAGE_SITE,     /* by line of Ruby, */
	JP_PAGE_LINE_ROW, /* and by source line */
	JP_PAGE_FILE,
	JP_PAGE_LINE,
	JP_PAGE_OBJECT,
	JP_PAGE_WHOSE,
	JP_PAGE_CELLS
};

struct jp_page_frames {
	struct jp_intern strings; /* as people may be shown them; the first is "" */
	struct jp_intern cells;   /* uint32_t[JP_PAGE_CELLS] of each frame */
	struct jp_strbuf text;
};

/* The id of a text as people may be shown it; JP_NONE when memory is short. */
uint32_t jp_page_string(struct jp_page_frames *frames, const char *text);

/* The i-th frame: its cells. */
const uint32_t *jp_page_cells(const struct jp_page_frames *frames, uint32_t frame);

void jp_page_frames_release(struct jp_page_frames *frames);

/* One view's frames and libraries among them. */
struct jp_page_names {
	struct jp_page_frames *frames;
	const struct jprof_view *view;
	struct jp_rows functions, lines, sites, libraries;
	uint32_t *number;  /* by frame of the view: its number in the page; JP_NONE: not asked for yet */
	uint32_t *library; /* by row of `libraries`: its string; likewise */
	size_t library_count, library_cap;
};

/* To be released in either case. */
int jp_page_names_init(struct jp_page_names *names, struct jp_page_frames *frames, const struct jprof_view *view,
                       struct jprof_error *err);
void jp_page_names_release(struct jp_page_names *names);

/* The number of a frame of the view; JP_NONE when memory is short. */
uint32_t jp_page_frame(struct jp_page_names *names, uint32_t frame);

/* The string of a row of `libraries`; JP_NONE when memory is short. */
uint32_t jp_page_library(struct jp_page_names *names, uint32_t row);
