/* A text that has to fit the height of a terminal: what matters least gives way first. */
#pragma once

#include <stdio.h>

/* Prints `what` with so much thrift: with 0 all of it, the less the higher the number. */
typedef void thrift_fn(FILE *to, const void *what, unsigned thrift);

/* Writes what `put` prints with the least thrift, of 0 to `most`, that takes no more than so many lines; with `most`
 * where none does. 0 lines: there is room for all. */
void thrift_put(FILE *to, unsigned lines, unsigned most, thrift_fn *put, const void *what);

/* How many lines a text has, however wide. */
size_t thrift_count(const char *text);

/* The lines that a screen leaves beside the command that was typed, messages, and the prompt. */
unsigned thrift_lines(unsigned lines);
