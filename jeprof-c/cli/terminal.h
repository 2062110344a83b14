/* The terminal that somebody looks at, and text that fits it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of a MB, on every screen. */
enum { mb = 1 << 20 };

struct terminal_size {
	unsigned columns; /* 80 where it is not known */
	unsigned lines;   /* 0: not known */
};

/* Of standard output; where that is a terminal that does not know its size, of $COLUMNS and $LINES. */
struct terminal_size terminal_size(void);

/* What stands before half of an interval: "+-", on a terminal with UTF-8 the sign for it, which takes one column. */
const char *terminal_plus_minus(void);

/* How many columns a character takes, by the C library's own table, whatever the locale; below 0: not known. */
int terminal_char_columns(uint32_t character);

/* Writes the text so that it stays on its line and steers no terminal: what jprof_visible_len does not let through as
 * \xNN. The functions below show it so, too. */
void terminal_put(FILE *to, const char *text);

/* How many columns a text takes. */
size_t terminal_columns(const char *text);

/* Writes the text likewise, but no more of it than fits into `room` columns: its two ends with "..." between them. */
void terminal_put_cut(FILE *to, const char *text, size_t room);

/* Likewise a name that may have a place, "app/models/user.rb:42 User#tags", "parse /srv/row.c:7": of what does not fit
 * goes first what follows the place, or " (inline)", and last the name of the file, and the line. */
void terminal_put_place(FILE *to, const char *text, size_t room);

/* Writes the text with its words, which blanks part, on lines of so many columns at most, but for a word that is
 * longer. Returns the number of lines, of which each ends in a newline. */
size_t terminal_wrap(FILE *to, const char *text, unsigned columns);

/* Likewise, where `used` columns of the first line are written already; the others begin with as many blanks. */
size_t terminal_wrap_after(FILE *to, unsigned used, const char *text, unsigned columns);

/* The same, for words of a row that would be cut otherwise, blanks before them included. Writes nothing and returns
 * false where lines have so many columns that cutting is better, or too few for one of the words. */
bool terminal_put_short_lines(FILE *to, size_t used, const char *text, size_t columns);

/* What follows so many columns of a row of standard output: on a terminal as terminal_wrap_after has it, else on one
 * line, so that grep finds all of it. */
void terminal_put_rest(unsigned used, const char *text);

/* Like terminal_wrap, a shell's command: each line but the last ends in " \", so that all of them can be pasted. */
size_t terminal_wrap_command(FILE *to, const char *command, unsigned columns);
