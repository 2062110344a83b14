/* --web: a picture in the user's browser. */
#ifndef JEPROF_BROWSER_H
#define JEPROF_BROWSER_H

#include <stdbool.h>
#include <stddef.h>

/* Writes an SVG to a file of its own in a directory that nobody else may enter, and has xdg-open open it. The
 * file stays; a line says where. With a `path` that file is opened, which is written already. False after having
 * said what is wrong. */
bool browser_show(const char *path, const char *data, size_t len);

#endif
