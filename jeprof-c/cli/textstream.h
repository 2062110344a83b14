/* Texts that are written as to a file. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* A stream that keeps what is written to it. Once closed it gives the text, for free(), or an error: open_memstream()
 * of glibc may lose a piece where memory is short, and tells nobody. Until it is closed *text is NULL. NULL with errno
 * when memory is short. */
FILE *textstream_open(char **text, size_t *len);

/* Closes such a stream. False: memory was short, and *text is NULL. */
bool textstream_closed(FILE *stream, char **text);
