/* PDFs without a clock. */
#ifndef DOT_PDF_H
#define DOT_PDF_H

#include <stddef.h>

/* cairo writes the time of day into the file; it becomes spaces and a title of the same length, so that equal
 * graphs are equal files and nothing in the file moves. A PDF that is not as known stays as it is. */
void dot_dress_pdf(char *data, size_t len);

#endif
