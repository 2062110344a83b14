#include "report/screenful.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "report/headline.h"
#include "report/missing.h"
#include "report/nextstep.h"
#include "report/options.h"

enum { indent = 3, most_sizes = 3 };

static double whole_shown(const struct jprof_view *view)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	return info->percent_of != 0 ? info->percent_of : info->flat;
}

/* How many columns the chain takes with its first row, if that is wanted, and its inner ones from `from` on. */
static size_t chain_columns(const struct jprof_path *path, bool outer, size_t from)
{
	static const size_t arrow = 3; /* " > " */
	size_t columns = outer ? terminal_columns(path->names[0]) + arrow : 0;
	columns += from > (outer ? 1 : 0) ? 3 + arrow : 0; /* "... > " */
	for (size_t i = from; i < path->count; i++)
		columns += terminal_columns(path->names[i]) + (i > from ? arrow : 0);
	return columns;
}

/* The rows from the outermost to the innermost: what does not fit goes out of the middle. */
static void write_chain(FILE *to, const struct jprof_path *path, unsigned columns)
{
	size_t room = columns > indent ? columns - indent : 1, from = path->count - 1;
	bool outer = path->count > 1 && chain_columns(path, true, from) <= room;
	while (from > (outer ? 1 : 0) && chain_columns(path, outer, from - 1) <= room)
		from--;
	fprintf(to, "%*s", indent, "");
	if (outer) {
		terminal_put_cut(to, path->names[0], room);
		fputs(" > ", to);
	}
	if (from > (outer ? 1 : 0) && chain_columns(path, outer, from) <= room)
		fputs("... > ", to);
	for (size_t i = from; i < path->count; i++) {
		terminal_put_cut(to, path->names[i], room);
		fputs(i + 1 < path->count ? " > " : "\n", to);
	}
}

/* One row alone is the first of the table, or is to be found there. */
static int write_path(FILE *to, const struct jprof_view *view, const struct options *o, unsigned columns)
{
	struct jprof_path *path;
	char amount[headline_amount_most];
	if (jprof_path_new(view, &path, NULL))
		return -1;
	int lines = path && path->count > 1 ? 2 : 0;
	if (lines) {
		char line[128];
		headline_amount(amount, view, o, path->value);
		snprintf(line, sizeof line, "biggest path   %s (%.1f %%)", amount,
		         path->value * 100 / whole_shown(view));
		size_t len = strlen(line);
		if (path->tag && path->value != 0)
			snprintf(line + len, sizeof line - len, ", %.0f %% of it for ",
			         path->tag_value * 100 / path->value);
		fputs(line, to);
		if (line[len])
			terminal_put_cut(to, path->tag, columns > strlen(line) ? columns - strlen(line) : 1);
		fputs("\n", to);
		write_chain(to, path, columns);
	}
	jprof_path_free(path);
	return lines;
}

static void put_size_name(char text[32], double limit)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB" };
	unsigned unit = 0;
	for (; limit >= 1024 && unit < 3; unit++)
		limit /= 1024;
	snprintf(text, 32, "%.4g %s", limit, units[unit]);
}

/* The place of the largest below a value, or among equal ones behind a place; the count: there is none. */
static size_t next_size(const struct jprof_sizes *sizes, bool bytes, size_t before)
{
	size_t count = jprof_sizes_count(sizes), best = count;
	const struct jprof_size *last = jprof_sizes_at(sizes, before);
	double limit = last ? bytes ? last->bytes : last->objects : INFINITY, most = 0;
	for (size_t i = 0; i < count; i++) {
		const struct jprof_size *size = jprof_sizes_at(sizes, i);
		double value = bytes ? size->bytes : size->objects;
		if (size->limit > 0 && value > most && (value < limit || (value == limit && i > before))) {
			best = i;
			most = value;
		}
	}
	return best;
}

static int write_sizes(FILE *to, const struct jprof_view *view, unsigned columns)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	bool bytes = info->counter == JPROF_INUSE_SPACE || info->counter == JPROF_ALLOC_SPACE;
	struct jprof_sizes *sizes;
	double whole = whole_shown(view), rest = whole;
	static const char others[] = " others 100 %: --sizes";
	char text[256] = "object sizes  ", name[32], item[64];
	if (jprof_sizes_new(view, &sizes, NULL))
		return -1;
	size_t count = jprof_sizes_count(sizes), at = count, shown = 0;
	for (; shown < most_sizes && (at = next_size(sizes, bytes, at)) < count; shown++) {
		const struct jprof_size *size = jprof_sizes_at(sizes, at);
		double value = bytes ? size->bytes : size->objects;
		put_size_name(name, size->limit);
		size_t len = (size_t)snprintf(item, sizeof item, " %s %.0f %%,", name, value * 100 / whole);
		if (shown && strlen(text) + len + sizeof others - 1 > columns)
			break;
		strncat(text, item, sizeof text - strlen(text) - 1);
		rest -= value;
	}
	jprof_sizes_free(sizes);
	if (!count)
		return 0;
	size_t len = strlen(text);
	if (count > shown)
		snprintf(text + len, sizeof text - len, " others %.0f %%: --sizes", rest * 100 / whole);
	else
		text[len - 1] = '\0';
	terminal_put_cut(to, text, columns);
	fputs("\n", to);
	return 1;
}

/* Writes the biggest path and the sizes of objects on lines of so many columns at most, and returns how many lines
 * these are: 0 of a difference. -1: memory is short. */
static int summary_write(FILE *to, const struct jprof_view *view, const struct options *o, unsigned columns)
{
	if (jprof_view_info(view)->difference || !(whole_shown(view) > 0))
		return 0;
	int path = write_path(to, view, o, columns), sizes = path < 0 ? -1 : write_sizes(to, view, columns);
	return sizes < 0 ? -1 : path + sizes;
}

/* Rows that are shown however low the terminal is, and where its height is not known. */
enum { least_rows = 5, usual_rows = 20 };

/* Lines that are taken: the command that was typed and the prompt after it; a blank one, the heads and the total of
 * the table. */
enum { around_report = 2, around_rows = 3 };

/* Lines of the table that what is nice to know leaves it. */
enum { least_table = 8 };

struct layout {
	const struct jprof_view *view;
	const struct options *o;
	const struct inputs *inputs;
	struct terminal_size size;
	bool names;   /* whether to look for what lacks one, */
	bool more;    /* and for a summary and a next step */
	size_t lines; /* for the whole of it; 0: not known */
	size_t over;  /* of the text over the table */
	size_t under; /* of what is under the table, and the blank line before it: the summary, the memory outside */
	size_t next;  /* of the next command, likewise */
};

static size_t rows_that_fit(const struct layout *l, size_t names)
{
	size_t rows = jprof_view_info(l->view)->rows, taken = l->over + around_rows + l->under + l->next + names;
	if (l->o->top != TOP_FITS)
		return l->o->top && l->o->top < rows ? l->o->top : rows;
	size_t room = !l->lines ? usual_rows : l->lines > taken ? l->lines - taken : 0;
	if (rows <= room)
		return rows;
	room -= l->lines && room > 2 ? 2 : 0; /* what the rest has together, and how to see it */
	room = room < least_rows ? least_rows : room;
	return room < rows ? room : rows;
}

/* What is last: how to see all rows, and what lacks a name. The number of rows follows from how much that is. */
static size_t put_end(FILE *to, const struct layout *l)
{
	size_t rows = jprof_view_info(l->view)->rows, top = rows_that_fit(l, 0), names_lines = 0;
	char *names = NULL, text[missing_most];
	size_t size;
	if (l->names && missing_names(l->view, l->o, l->inputs, top, text)) {
		FILE *lines = shortage_note(textstream_open(&names, &size));
		names_lines = lines ? terminal_wrap(lines, text, l->size.columns) : 0;
		if (lines)
			shortage_close(lines, &names);
		top = rows_that_fit(l, names_lines);
	}
	if (top < rows)
		fprintf(to, "... %zu more: --top=0\n", rows - top);
	fputs(names ? names : "", to);
	free(names);
	return top;
}

static bool has_room(const struct layout *l, size_t lines)
{
	return !l->lines || l->lines >= l->over + around_rows + l->under + l->next + lines + least_table;
}

/* The next command, which stands last; NULL: there is none, or no room for it. */
static char *make_next(struct layout *l, const struct loaded *loaded)
{
	char *text = NULL;
	size_t size;
	FILE *to = shortage_note(textstream_open(&text, &size));
	size_t lines = to ? (size_t)next_step_write(to, loaded, l->o, l->inputs, l->size.columns) : 0;
	if (to && shortage_close(to, &text) && lines && has_room(l, 1 + lines)) {
		l->next = 1 + lines;
		return text;
	}
	free(text);
	return NULL;
}

/* Where most of it comes from, before what is outside. False: memory is short. */
static bool put_summary(FILE *to, struct layout *l)
{
	char *text = NULL;
	size_t size;
	FILE *lines = textstream_open(&text, &size);
	int count = lines ? summary_write(lines, l->view, l->o, l->size.columns) : -1;
	bool good = lines && textstream_closed(lines, &text) && count >= 0;
	size_t blank = l->under ? 0 : 1; /* the one before is that of what is outside */
	if (good && count && has_room(l, (size_t)count + blank)) {
		l->under += (size_t)count + blank;
		fprintf(to, "\n%s", text);
	} else if (l->under) {
		fputs("\n", to);
	}
	free(text);
	return good;
}

/* What is outside, each line by itself; beside a next command as many as there is room for. */
static void put_outside(FILE *to, struct layout *l, const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		size_t blank = l->under ? 0 : 1, size;
		char *wrapped = NULL, *line = shortage_note(strndup(text, len = strcspn(text, "\n")));
		FILE *lines = shortage_note(textstream_open(&wrapped, &size));
		size_t count = line && lines ? terminal_wrap(lines, line, l->size.columns) : 0;
		bool fits = (!lines || shortage_close(lines, &wrapped)) && (!l->next || has_room(l, blank + count));
		if (fits && count) {
			l->under += blank + count;
			fputs(wrapped, to);
		}
		free(wrapped);
		free(line);
		if (!fits)
			return;
	}
}

static bool put_under(FILE *to, struct layout *l, const struct loaded *loaded, const char *outside, size_t *top)
{
	char *outside_lines = NULL;
	size_t size;
	FILE *lines = textstream_open(&outside_lines, &size);
	char *next = l->more ? make_next(l, loaded) : NULL;
	if (lines)
		put_outside(lines, l, outside);
	bool good = lines && textstream_closed(lines, &outside_lines);
	if (l->more)
		good = good && put_summary(to, l);
	else if (l->under)
		fputs("\n", to);
	fputs(good ? outside_lines : "", to);
	*top = put_end(to, l);
	if (next)
		fprintf(to, "\n%s", next);
	free(next);
	free(outside_lines);
	return good;
}

bool screenful_plan(struct screenful *s, const struct loaded *loaded, const struct jprof_view *view,
                    const struct options *o, const struct inputs *inputs, size_t parts, const char *outside)
{
	struct layout l = { .view = view, .o = o, .inputs = inputs, .size = terminal_size() };
	size_t size, said = say_lines() + around_report;
	char *sentence = headline(loaded, view, o, inputs);
	*s = (struct screenful){ 0 };
	l.more = !o->quiet && !parts;
	l.names = l.more && !loaded->warned;
	FILE *over = textstream_open(&s->over, &size), *under = textstream_open(&s->under, &size);
	if (over && sentence) {
		l.over = terminal_wrap(over, sentence, l.size.columns);
		fputs("\n", over);
	}
	l.lines = l.size.lines > said ? (l.size.lines - said) / (parts ? parts : 1) : l.size.lines ? 1 : 0;
	bool good = sentence && over && under && put_under(under, &l, loaded, outside, &s->top);
	good = (!over || textstream_closed(over, &s->over)) && (!under || textstream_closed(under, &s->under)) && good;
	free(sentence);
	if (!good)
		say("memory is short");
	return good;
}

void screenful_release(struct screenful *s)
{
	free(s->over);
	free(s->under);
}
