/* The report "text" for a terminal. */
#pragma once

#include "base/strbuf.h"
#include "render/errors.h"
#include "render/values.h"
#include "view/view.h"

/* What all rows of a report have in common. */
struct jp_text_report {
	const struct jprof_table *table;
	const struct jp_error_column *errors; /* NULL: not asked for */
	const struct jprof_view *view;
	const char **callers; /* NULL: not asked for */
	enum jp_unit unit;
	bool means, bytes; /* the mean sizes of objects are asked for; as plain numbers */
	bool freed;        /* what was freed is */
	struct jp_scale scale;
	size_t widest; /* name, up to which columns behind it are lined up */
	struct jp_strbuf *out;
};

/* The unit that fits the largest number of the view. */
enum jp_unit jp_screen_unit(const struct jprof_view *view, const struct jprof_report_opts *opts);

/* Appends the table: heads, rows, what the rest has together, the total; each is one line of opts->columns at most. */
void jp_put_screen(const struct jp_text_report *report, const struct jprof_report_opts *opts);

/* The colour of a row, as an escape sequence, or "": red for what grew, green for what shrank, faint for what has no
 * name, as signs and names say. */
const char *jp_row_colour(const struct jprof_view *view, const struct jprof_row *row);
#define JP_COLOUR_END "\033[0m"

/* What stands behind the name of a row, in three parts: who called it, or from which line of the application most of it
 * came. Without a name: nothing. */
struct jp_note {
	const char *before;
	const char *name; /* as it is in the view */
	char after[16];
};

struct jp_note jp_note_of(const struct jprof_view *view, const char **callers, const struct jprof_row *row);
