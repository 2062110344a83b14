/* Pictures without a clock. */
#pragma once

#include <stddef.h>

/* cairo writes the time of day into PDF and PostScript; a title of the same length takes its place, so that
 * equal graphs are equal files and nothing in the file moves. A file that is not as known stays as it is. */
void dot_undate_pdf(char *data, size_t len);
void dot_undate_ps(char *data, size_t len);
