#include "report/fitlines.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shortage.h"
#include "cli/terminal.h"

/* A name that does not fit in so many columns stands below its numbers, so far to the right. */
enum { least_name = 24, below_indent = 4 };

/* Where the source begins in a line of --list, "   1.9    1.9   24: def add", or 0. */
static size_t source_at(const char *line)
{
	size_t numbers = strspn(line, " 0123456789.-?"), blank = numbers;
	while (blank && line[blank - 1] != ' ')
		blank--;
	return numbers > blank && line[numbers] == ':' && line[numbers + 1] == ' ' ? numbers + 2 : 0;
}

/* Where the name begins in a row: after the columns, which two blanks or more part, and the mark of its place. */
static size_t name_at(const char *line)
{
	size_t at = 0;
	for (size_t i = 0; line[i]; i++)
		if (i > 1 && line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
			at = i;
	return at && strchr("|+", line[at]) && line[at + 1] == ' ' ? at + 2 : at;
}

/* Leaves one blank where there are more in the columns before the name. Returns where the name begins then. */
static size_t squeeze_columns(char *line, size_t name)
{
	size_t to = 0;
	for (size_t from = strspn(line, " "); from < name; from++)
		if (line[from] != ' ' || line[from + 1] != ' ')
			line[to++] = line[from];
	memmove(line + to, line + name, strlen(line + name) + 1);
	return to;
}

/* The columns, and the name behind them or, where it has too little room there, below. */
static void put_row(FILE *to, char *line, size_t name, unsigned columns)
{
	bool marked = line[name - 2] != ' ';
	name = name > columns ? squeeze_columns(line, name) : name;
	bool below = name + least_name > columns && name + terminal_columns(line + name) > columns;
	size_t head = name;
	while (below && head && line[head - 1] == ' ')
		head--;
	int indent = !below ? 0 : marked ? below_indent : below_indent + 2;
	fprintf(to, "%.*s%s%*s", (int)head, line, below ? "\n" : "", indent, "");
	terminal_put_place(to, line + name, columns - (below ? (size_t)indent : name));
	fputc('\n', to);
}

static void put_line(FILE *to, char *line, unsigned columns)
{
	size_t source = source_at(line), name = name_at(line);
	if (terminal_columns(line) <= columns) {
		fprintf(to, "%s\n", line);
	} else if (!line[strspn(line, "-+=")]) {
		fprintf(to, "%.*s\n", (int)columns, line);
	} else if (source && source < columns / 2) {
		fwrite(line, 1, source, to);
		terminal_wrap_after(to, (unsigned)source, line + source, columns);
	} else if (!name || source) {
		terminal_wrap(to, line, columns);
	} else if (name > columns && !strpbrk(line, "0123456789")) { /* the head */
		terminal_wrap(to, line + strspn(line, " "), columns);
	} else {
		put_row(to, line, name, columns);
	}
}

/* Writes the line that was kept. */
static int flush_line(struct fitlines *fit)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = shortage_note(textstream_open(&text, &len));
	if (!to)
		return -1;
	fit->line[fit->len] = '\0';
	fit->len = 0;
	put_line(to, fit->line, fit->columns);
	int rc = textstream_closed(to, &text) ? fit->write(fit->context, text, len) : -1;
	free(text);
	return rc;
}

/* Room for so many more bytes of the line and its end. */
static bool reserve(struct fitlines *fit, size_t more)
{
	if (more >= SIZE_MAX / 2 - fit->len)
		return false;
	size_t need = fit->len + more + 1, cap = 2 * need;
	char *grown = need <= fit->cap ? fit->line : shortage_note(realloc(fit->line, cap));
	if (!grown)
		return false;
	fit->cap = need <= fit->cap ? fit->cap : cap;
	fit->line = grown;
	return true;
}

int fitlines_write(void *fitlines, const void *data, size_t len)
{
	struct fitlines *fit = fitlines;
	for (const char *at = data; len;) {
		const char *newline = memchr(at, '\n', len);
		size_t part = newline ? (size_t)(newline - at) : len, all = part + (newline != NULL);
		if (!reserve(fit, part))
			return -1;
		memcpy(fit->line + fit->len, at, part);
		fit->len += part;
		at += all;
		len -= all;
		if (newline && flush_line(fit))
			return -1;
	}
	return 0;
}

bool fitlines_end(struct fitlines *fit)
{
	bool good = !fit->len || !flush_line(fit);
	free(fit->line);
	fit->line = NULL;
	return good;
}
