/* What the ending of a file's name says of its content. */
#pragma once

#include <stdbool.h>

/* Whether a file of that name may get a report of that format, "bundle", or "names" (a pack of them). False after
 * having said that the ending is that of something else. NULL is standard output. */
bool filename_fits(const char *path, const char *format);
