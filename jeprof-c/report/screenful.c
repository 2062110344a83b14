#include "report/screenful.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/terminal.h"
#include "report/headline.h"
#include "report/missing.h"

/* Rows that are shown however low the terminal is, and where its height is not known. */
enum { least_rows = 5, usual_rows = 20 };

/* Lines that are taken: the command that was typed and the prompt after it; a blank one, the heads and the total of
 * the table. */
enum { around_report = 2, around_rows = 3 };

struct layout {
	const struct jprof_view *view;
	const struct options *o;
	const struct inputs *inputs;
	struct terminal_size size;
	bool names;     /* whether to look for what lacks one */
	size_t lines;   /* for the whole of it; 0: not known */
	size_t over;    /* of the text over the table */
	size_t outside; /* of what is known of the memory outside, and the blank line before it */
};

static size_t rows_that_fit(const struct layout *l, size_t names)
{
	size_t rows = jprof_view_info(l->view)->rows, taken = l->over + around_rows + l->outside + names;
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
		FILE *lines = open_memstream(&names, &size);
		names_lines = lines ? terminal_wrap(lines, text, l->size.columns) : 0;
		if (lines)
			fclose(lines);
		top = rows_that_fit(l, names_lines);
	}
	if (top < rows)
		fprintf(to, "... %zu more: --top=0\n", rows - top);
	fputs(names ? names : "", to);
	free(names);
	return top;
}

bool screenful_plan(struct screenful *s, const struct loaded *loaded, const struct jprof_view *view,
                    const struct options *o, const struct inputs *inputs, size_t parts, const char *outside)
{
	struct layout l = { .view = view, .o = o, .inputs = inputs, .size = terminal_size() };
	size_t size, said = say_lines() + around_report;
	char *sentence = headline(loaded, view, o, inputs);
	*s = (struct screenful){ 0 };
	l.names = !o->quiet && !loaded->warned && !parts;
	FILE *over = open_memstream(&s->over, &size), *under = open_memstream(&s->under, &size);
	if (over && sentence) {
		l.over = terminal_wrap(over, sentence, l.size.columns);
		fputs("\n", over);
	}
	l.lines = l.size.lines > said ? (l.size.lines - said) / (parts ? parts : 1) : l.size.lines ? 1 : 0;
	if (under && *outside) {
		fputs("\n", under);
		l.outside = 1 + terminal_wrap(under, outside, l.size.columns);
	}
	s->top = under ? put_end(under, &l) : 0;
	bool good = sentence && over && under;
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
