#include "report/screenful.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "report/headline.h"
#include "report/missing.h"
#include "report/nextstep.h"
#include "report/summary.h"

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
		FILE *lines = shortage_note(open_memstream(&names, &size));
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
	FILE *to = shortage_note(open_memstream(&text, &size));
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
	FILE *lines = open_memstream(&text, &size);
	int count = lines ? summary_write(lines, l->view, l->o, l->size.columns) : -1;
	bool good = lines && !fclose(lines) && count >= 0;
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

static bool put_under(FILE *to, struct layout *l, const struct loaded *loaded, const char *outside, size_t *top)
{
	char *outside_lines = NULL;
	size_t size;
	FILE *lines = open_memstream(&outside_lines, &size);
	l->under = lines && *outside ? 1 + terminal_wrap(lines, outside, l->size.columns) : 0;
	bool good = lines && !fclose(lines);
	char *next = good && l->more ? make_next(l, loaded) : NULL;
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
	FILE *over = open_memstream(&s->over, &size), *under = open_memstream(&s->under, &size);
	if (over && sentence) {
		l.over = terminal_wrap(over, sentence, l.size.columns);
		fputs("\n", over);
	}
	l.lines = l.size.lines > said ? (l.size.lines - said) / (parts ? parts : 1) : l.size.lines ? 1 : 0;
	bool good = sentence && over && under && put_under(under, &l, loaded, outside, &s->top);
	good = (!over || !fclose(over)) && (!under || !fclose(under)) && good;
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
