#include "render/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "render/agecells.h"
#include "view/callers.h"
#include "view/rows.h"

/* In the order of the lines; NAME takes what the others leave. */
enum column {
	FLAT,
	FLAT_ERROR,
	FLAT_SHARE,
	SUM_SHARE,
	CUM,
	CUM_ERROR,
	CUM_SHARE,
	MEAN,
	FREED,
	LIVE,
	AGES, /* one for each part */
	AGE_BAR = AGES + JP_AGE_PARTS,
	AGE_SHAPE,
	COLUMNS
};

/* Columns that a name has at least, with a word about its error behind it where errors are shown; from where on errors
 * may be shown in full. */
enum { least_name = 20, least_judged = 36, wide_screen = 100 };

/* What is the same for all lines. */
struct screen {
	const struct jp_text_report *report;
	const struct jprof_report_opts *opts;
	bool shown[COLUMNS];
	size_t width[COLUMNS]; /* without the blank before it */
	size_t room;           /* columns of the terminal for the name, */
	bool long_errors;      /* and errors in full stand behind it */
	struct jp_strbuf name, note, place;
};

static const char *const heads[COLUMNS] = {
	[FLAT] = "flat",
	[FLAT_ERROR] = "+-95%",
	[FLAT_SHARE] = "flat%",
	[SUM_SHARE] = "sum%",
	[CUM] = "cum",
	[CUM_ERROR] = "+-95%",
	[CUM_SHARE] = "cum%",
	[MEAN] = "mean",
	[FREED] = "freed",
	[LIVE] = "live",
	[AGES + JP_AGE_OLDER] = "older",
	[AGES + JP_AGE_STARTUP] = "startup",
	[AGES + JP_AGE_FORK] = "before fork",
	[AGE_BAR] = "start..now",
	[AGE_SHAPE] = "it is",
};

static const char *head_of(const struct screen *s, int column)
{
	if ((column == FLAT_ERROR || column == CUM_ERROR) && s->opts->utf8)
		return "\u00b195%";
	return column == AGES + JP_AGE_HOUR ? jp_age_head(s->report->view, JP_AGE_HOUR) : heads[column];
}

static const struct {
	const char *one, *more;
} rows_are[] = {
	[JPROF_BY_FUNCTION] = { "function", "functions" },
	[JPROF_BY_LINE] = { "line", "lines" },
	[JPROF_BY_FILE] = { "file", "files" },
	[JPROF_BY_ADDRESS] = { "address", "addresses" },
	[JPROF_BY_LIBRARY] = { "library", "libraries" },
	[JPROF_BY_SITE] = { "allocated at", "places" },
	[JPROF_BY_KIND] = { "kind", "kinds" },
	[JPROF_BY_GROUP] = { "group", "groups" },
	[JPROF_BY_TAG] = { "tag", "tags" },
};

/* Colours that can be read on dark and on light ground. */
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN JP_COLOUR_END

static void put_colour(const struct screen *s, const char *colour)
{
	if (s->opts->colour)
		jp_strbuf_str(s->report->out, colour);
}

const char *jp_row_colour(const struct jprof_view *view, const struct jprof_row *row)
{
	bool nameless = row->source == JPROF_SOURCE_NONE || row->source == JPROF_SOURCE_FDE;
	if (view->info.difference && row->flat != 0)
		return row->flat > 0 ? RED : GREEN;
	return nameless && !jp_rows_by_path(view->info.granularity) ? DIM : "";
}

struct jp_note jp_note_of(const struct jprof_view *view, const char **callers, const struct jprof_row *row)
{
	const char *caller = callers ? jp_sole_caller(view, callers, row) : NULL;
	struct jp_note note = { .before = "  called by ", .name = caller };
	if (row->from) {
		note.before = " (from ";
		note.name = row->from;
		snprintf(note.after, sizeof note.after, ", %.0f %%)", fmin(100, row->from_value * 100 / row->flat));
	}
	return note;
}

enum jp_unit jp_screen_unit(const struct jprof_view *view, const struct jprof_report_opts *opts)
{
	const struct jprof_view_info *info = &view->info;
	double changed = info->difference && info->shares == JPROF_SHARES_OF_CHANGES ? info->percent_of : 0;
	if (jp_unit_of(view, opts) != JP_MB)
		return jp_unit_of(view, opts);
	return jp_fitting_unit(fmax(fabs(info->total), changed));
}

/* In a difference a number says by its sign which way it went. */
static struct jp_cell signed_cell(const struct screen *s, double value)
{
	const struct jp_cell number = jp_shown_value(value, s->report->unit);
	struct jp_cell cell;
	bool any = strpbrk(number.text, "123456789"), grew = s->report->view->info.difference && value > 0 && any;
	snprintf(cell.text, sizeof cell.text, "%s%.60s", grew ? "+" : "", number.text + (!any && *number.text == '-'));
	return cell;
}

/* Half of the 95 % interval, in two digits or as many as there are before the point. */
static struct jp_cell half_cell(const struct jprof_range *range, double value, enum jp_unit unit)
{
	double half = (range->high - range->low) / 2 / jp_unit_size(unit);
	struct jp_cell cell = { "?" };
	if (value == 0 && range->samples == 0 && !isnan(half))
		*cell.text = '\0';
	else if (!isnan(half))
		snprintf(cell.text, sizeof cell.text, "%.*f", unit > JP_BYTES && half < 9.95 ? 1 : 0, half);
	return cell;
}

/* A part of nothing is left empty. */
static void fill_ages(const struct screen *s, const struct jprof_row *row, struct jp_cell cells[COLUMNS])
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) bar = { 0 };
	for (int part = 0; part < JP_AGE_PARTS; part++)
		if (jp_age_part(row, (enum jp_age_part)part) != 0)
			cells[AGES + part] = signed_cell(s, jp_age_part(row, (enum jp_age_part)part));
	jp_put_age_bar(s->report->view, row, &bar);
	snprintf(cells[AGE_BAR].text, sizeof cells->text, "%s", bar.failed ? "" : bar.text);
	snprintf(cells[AGE_SHAPE].text, sizeof cells->text, "%s", jp_shape_words[row->shape]);
}

static void fill_cells(const struct screen *s, const struct jprof_row *row, double sum, struct jp_cell cells[COLUMNS])
{
	const struct jp_text_report *r = s->report;
	memset(cells, 0, COLUMNS * sizeof *cells);
	cells[FLAT] = signed_cell(s, row->flat);
	cells[CUM] = signed_cell(s, row->cum);
	cells[FLAT_ERROR] = half_cell(&row->flat_range, row->flat, r->unit);
	cells[CUM_ERROR] = half_cell(&row->cum_range, row->cum, r->unit);
	cells[FLAT_SHARE] = jp_shown_percent(row->flat, r->scale);
	cells[SUM_SHARE] = jp_shown_percent(sum, r->scale);
	cells[CUM_SHARE] = jp_shown_percent(row->cum, r->scale);
	cells[MEAN] = jp_shown_mean(row->mean, r->bytes);
	cells[FREED] = signed_cell(s, row->freed);
	cells[LIVE] = signed_cell(s, row->live);
	if (r->view->info.ages && row->name)
		fill_ages(s, row, cells);
}

static void widen_columns(struct screen *s, const struct jp_cell cells[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		size_t len = strlen(cells[c].text);
		s->width[c] = len > s->width[c] ? len : s->width[c];
	}
}

/* What all rows that are not in the table have together. */
static double rest_of(const struct screen *s)
{
	double rest = s->report->view->info.flat;
	for (size_t i = 0; i < jprof_table_count(s->report->table); i++)
		rest -= jprof_table_at(s->report->table, i)->flat;
	return fabs(rest) < 0.5 ? 0 : rest; /* what adding up lost of a byte or an object */
}

static void measure_cells(struct screen *s)
{
	static const size_t least[AGES] = {
		[FLAT] = 8,      [FLAT_ERROR] = 5, [FLAT_SHARE] = 6, [SUM_SHARE] = 6, [CUM] = 8,
		[CUM_ERROR] = 5, [CUM_SHARE] = 6,  [MEAN] = 6,       [FREED] = 8,     [LIVE] = 8
	};
	const struct jp_text_report *r = s->report;
	struct jp_cell cells[COLUMNS];
	double sum = 0;
	memcpy(s->width, least, sizeof least);
	for (int c = AGES; c < COLUMNS; c++)
		s->width[c] = strlen(head_of(s, c));
	for (size_t i = 0; i < jprof_table_count(r->table); i++) {
		const struct jprof_row *row = jprof_table_at(r->table, i);
		sum += row->flat;
		fill_cells(s, row, sum, cells);
		widen_columns(s, cells);
	}
	fill_cells(s, &(const struct jprof_row){ .flat = r->view->info.total, .mean = NAN }, sum, cells);
	widen_columns(s, cells);
}

static void measure_room(struct screen *s)
{
	size_t before = 1; /* a blank behind each cell, two behind the last */
	for (int c = 0; c < COLUMNS; c++)
		before += s->shown[c] ? s->width[c] + 1 : 0;
	s->room = s->opts->columns > before ? s->opts->columns - before : 0;
}

/* Ages stand in the place of what is about all rows. */
static void choose_ages(struct screen *s)
{
	enum column error = s->opts->cum ? CUM_ERROR : FLAT_ERROR;
	const enum column give_way[] = { FLAT_SHARE, CUM_SHARE, MEAN, error, AGE_BAR, AGES + JP_AGE_STARTUP };
	for (int c = 0; c < COLUMNS; c++)
		s->shown[c] = c >= AGES + JP_AGE_PARTS || (c >= AGES && jp_age_is_shown(s->report->view, c - AGES));
	s->shown[s->opts->cum ? CUM : FLAT] = s->shown[s->opts->cum ? CUM_SHARE : FLAT_SHARE] = true;
	s->shown[MEAN] = s->report->means;
	s->shown[error] = s->report->errors;
	measure_room(s);
	for (size_t i = 0; s->room < least_name && i < jp_count(give_way); i++) {
		s->shown[give_way[i]] = false;
		measure_room(s);
	}
}

/* Where the terminal is narrow, columns go until a name has room. */
static void choose_columns(struct screen *s)
{
	bool cum = s->opts->cum;
	const enum column give_way[] = { SUM_SHARE, cum ? FLAT_SHARE : CUM_SHARE, cum ? FLAT : CUM,
		                         cum ? CUM_SHARE : FLAT_SHARE };
	for (int c = 0; c < AGES; c++)
		s->shown[c] = c != FLAT_ERROR && c != CUM_ERROR && (c != MEAN || s->report->means) &&
		              ((c != FREED && c != LIVE) || s->report->freed);
	if (s->report->view->info.ages) {
		choose_ages(s);
		return;
	}
	measure_room(s);
	size_t errors = s->report->errors ? jp_error_column_width(s->report->errors) : 0;
	s->long_errors = errors && s->opts->columns >= wide_screen && s->room >= errors + least_name;
	if (s->long_errors) {
		s->room -= errors;
		return;
	}
	s->shown[cum ? CUM_ERROR : FLAT_ERROR] = errors;
	s->shown[SUM_SHARE] = !errors && !s->report->freed;
	size_t least = errors ? least_judged : least_name;
	measure_room(s);
	for (size_t i = 0; s->room < least && i < jp_count(give_way); i++) {
		s->shown[give_way[i]] = false;
		measure_room(s);
	}
}

/* Of UTF-8 those that go on with a character. */
static int bytes_of_no_column(const char *text)
{
	int count = 0;
	for (; *text; text++)
		count += (*text & 0xc0) == 0x80;
	return count;
}

static void put_line_cells(struct screen *s, const struct jp_cell cells[COLUMNS])
{
	struct jp_strbuf *out = s->report->out;
	size_t start = out->len;
	for (int c = 0; c < COLUMNS; c++) {
		int wide = (int)s->width[c] + bytes_of_no_column(cells[c].text);
		if (s->shown[c])
			jp_strbuf_printf(out, "%s%*s", out->len == start ? "" : " ", c == AGE_SHAPE ? -wide : wide,
			                 cells[c].text);
	}
}

static void put_heads(struct screen *s)
{
	const struct jp_text_report *r = s->report;
	const char *unit = jp_unit_name(r->unit), *rows = rows_are[r->view->info.granularity].one;
	struct jp_cell cells[COLUMNS];
	for (int c = 0; c < COLUMNS; c++)
		snprintf(cells[c].text, sizeof cells->text, "%s", head_of(s, c));
	put_colour(s, BOLD);
	put_line_cells(s, cells);
	jp_strbuf_str(r->out, "  ");
	size_t used = jp_put_cut(r->out, rows, s->room, NULL) + strlen(unit) + 2;
	if (s->room > used)
		jp_strbuf_printf(r->out, "%*s(%s)", (int)(s->room - used), "", unit);
	put_colour(s, PLAIN);
	jp_strbuf_str(r->out, "\n");
}

/* A name as people may be shown it, in a buffer that is used again. */
static const char *shown_name(struct screen *s, struct jp_strbuf *buf, const char *name)
{
	jp_strbuf_cut(buf, 0);
	jp_strbuf_visible(buf, name);
	s->report->out->failed = s->report->out->failed || buf->failed;
	return buf->len && !buf->failed ? buf->text : "";
}

/* How many columns of `room` a note of `noted` columns gets behind a name: what the name leaves, or half; nothing where
 * less than `least` would be seen of it. */
static size_t note_columns(size_t room, size_t name, size_t noted, size_t least)
{
	size_t left = room > name ? room - name : 0, most = left > room / 2 ? left : room / 2;
	return noted <= most ? noted : least <= most ? most : 0;
}

/* A place, such as app/models/user.rb:42: its file and line are what is looked for. */
static size_t put_screen_place(const struct screen *s, const char *place, size_t room)
{
	const char *slash = strrchr(place, '/');
	return jp_put_tail(s->report->out, place, slash ? slash : place, room, s->opts->char_columns);
}

/* The name of a row, cut where it has to be. By site it begins with a place, which is the last to be cut; by line it
 * ends with one. */
static size_t put_screen_name(struct screen *s, const struct jprof_row *row, const char *name, size_t room)
{
	enum { least_method = 6 };
	jp_char_columns_fn *columns_of = s->opts->char_columns;
	char line[16];
	size_t len = (size_t)snprintf(line, sizeof line, ":%u ", row->line) - 1;
	const char *end = row->line && row->origin ? strstr(name, line) : NULL;
	jp_strbuf_cut(&s->place, 0);
	jp_strbuf_add(&s->place, name, end ? (size_t)(end - name) + len : 0);
	if (!end && s->report->view->info.granularity == JPROF_BY_LINE)
		return put_screen_place(s, name, room);
	if (!end || s->place.failed)
		return jp_put_cut(s->report->out, name, room, columns_of);
	size_t columns = jp_columns(s->place.text, columns_of);
	if (columns + least_method > room)
		return put_screen_place(s, s->place.text, room);
	jp_strbuf_str(s->report->out, s->place.text);
	return columns + jp_put_head(s->report->out, end + len, room - columns, columns_of);
}

/* The name of a row, behind it what there is to say of it, and last what is to be known of its error. Returns how many
 * columns that takes. */
static size_t put_row_name(struct screen *s, const struct jprof_row *row)
{
	enum { least_noted = 8 };
	const struct jp_text_report *r = s->report;
	jp_char_columns_fn *columns_of = s->opts->char_columns;
	const struct jp_note note = jp_note_of(r->view, r->callers, row);
	const char *name = shown_name(s, &s->name, row->name),
		   *noted = shown_name(s, &s->note, note.name ? note.name : "");
	const char *doubt =
	    r->errors && !s->long_errors ? jp_doubt(s->opts->cum ? &row->cum_range : &row->flat_range) : "";
	size_t last = strlen(doubt) + least_noted <= s->room ? strlen(doubt) : 0, room = s->room - last;
	size_t fixed = note.name ? strlen(note.before) + strlen(note.after) : 0, used;
	size_t behind = note_columns(room, jp_columns(name, columns_of), fixed + jp_columns(noted, columns_of),
	                             fixed + least_noted);
	if (!note.name || !behind) {
		used = put_screen_name(s, row, name, room);
	} else {
		used = fixed + put_screen_name(s, row, name, room - behind);
		jp_strbuf_str(r->out, note.before);
		used += put_screen_place(s, noted, behind - fixed);
		jp_strbuf_str(r->out, note.after);
	}
	jp_strbuf_add(r->out, doubt, last);
	return used + last;
}

static void put_screen_row(struct screen *s, size_t i, double sum)
{
	const struct jp_text_report *r = s->report;
	const struct jprof_row *row = jprof_table_at(r->table, i);
	const char *colour = jp_row_colour(r->view, row);
	struct jp_cell cells[COLUMNS];
	fill_cells(s, row, sum, cells);
	put_colour(s, colour);
	put_line_cells(s, cells);
	jp_strbuf_str(r->out, "  ");
	size_t used = put_row_name(s, row);
	if (s->long_errors)
		jp_error_column_put(r->errors, i, used, r->out);
	put_colour(s, *colour ? PLAIN : "");
	jp_strbuf_str(r->out, "\n");
	jp_strbuf_drain(r->out);
}

/* A line of a sum: it has no cum, so a table without flat shows none. */
static void put_sum_line(struct screen *s, double value, struct jp_cell share, struct jp_cell sum, const char *text)
{
	const struct jp_cell cells[COLUMNS] = {
		[FLAT] = signed_cell(s, value), [FLAT_SHARE] = share, [SUM_SHARE] = sum
	};
	put_line_cells(s, cells);
	jp_strbuf_str(s->report->out, "  ");
	jp_put_cut(s->report->out, text, s->room, s->opts->char_columns);
}

static void put_rest(struct screen *s)
{
	const struct jp_text_report *r = s->report;
	size_t left = r->view->info.rows - jprof_table_count(r->table);
	char text[64];
	if (!left)
		return;
	double rest = rest_of(s);
	snprintf(text, sizeof text, "%zu more %s", left,
	         left == 1 && r->view->info.granularity != JPROF_BY_SITE ? rows_are[r->view->info.granularity].one
	                                                                 : rows_are[r->view->info.granularity].more);
	put_sum_line(s, rest, jp_shown_percent(rest, r->scale), jp_shown_percent(r->view->info.flat, r->scale), text);
	jp_strbuf_str(r->out, "\n");
}

static void put_last(struct screen *s)
{
	const struct jprof_view_info *info = &s->report->view->info;
	jp_strbuf_cut(&s->name, 0);
	jp_strbuf_str(&s->name, info->heading ? "Total (" : "Total");
	if (info->heading) {
		jp_strbuf_visible(&s->name, info->heading);
		jp_strbuf_str(&s->name, ")");
	}
	put_colour(s, BOLD);
	put_sum_line(s, info->total, (struct jp_cell){ "" }, (struct jp_cell){ "" },
	             s->name.failed ? "Total" : s->name.text);
	put_colour(s, PLAIN);
	jp_strbuf_str(s->report->out, "\n");
}

void jp_put_screen(const struct jp_text_report *report, const struct jprof_report_opts *opts)
{
	struct screen s = { .report = report, .opts = opts };
	double sum = 0;
	if (!jprof_table_count(report->table) && report->view->info.total == 0)
		return;
	measure_cells(&s);
	choose_columns(&s);
	put_heads(&s);
	for (size_t i = 0; i < jprof_table_count(report->table); i++) {
		sum += jprof_table_at(report->table, i)->flat;
		put_screen_row(&s, i, sum);
	}
	put_rest(&s);
	put_last(&s);
	jp_strbuf_release(&s.name);
	jp_strbuf_release(&s.note);
	jp_strbuf_release(&s.place);
}
