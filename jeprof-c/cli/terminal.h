/* The terminal that somebody looks at, and text that fits it. */
#ifndef JEPROF_TERMINAL_H
#define JEPROF_TERMINAL_H

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

/* How many columns a character takes, by the C library's own table, whatever the locale; below 0: not known. */
int terminal_char_columns(uint32_t character);

/* How many columns a text takes, as put_name shows it. */
size_t terminal_columns(const char *text);

/* Writes the text likewise, but no more of it than fits into `room` columns: its two ends with "..." between them. */
void terminal_put_cut(FILE *to, const char *text, size_t room);

/* Writes the text with its words, which blanks part, on lines of so many columns at most, but for a word that is
 * longer; as put_name shows it. Returns the number of lines, of which each ends in a newline. */
size_t terminal_wrap(FILE *to, const char *text, unsigned columns);

#endif
