/* Times on the command line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads a time such as 90s, 10m, 1h or 2d, in milliseconds, 1 or more; a NULL is 0. False after having said that
 * `option` wants one. */
bool duration_parse(const char *option, const char *text, uint64_t *milliseconds);

enum { duration_size = 32 };

/* The same for people: "90 seconds", "10 minutes", "1.5 hours". Returns `text`. */
const char *duration_words(uint64_t milliseconds, char text[duration_size]);
