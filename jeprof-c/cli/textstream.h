/* Texts that are written as to a file. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* A stream whose text is kept, in place of open_memstream(), whose streams lose a piece in silence where glibc has no
 * memory for it, and take the next. NULL with errno when memory is short. The text is there once the stream is closed;
 * until then *text is NULL. */
FILE *memory_open(char **text, size_t *len);

/* Closes such a stream. False: memory was short, and *text is NULL. */
bool memory_closed(FILE *memory, char **text);
