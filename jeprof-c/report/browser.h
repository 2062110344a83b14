/* --web, --html --open: a picture or a page in the user's browser. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes data to a file of that name in a directory of its own that nobody else may enter, and has xdg-open open it.
 * The file stays; a line says where. With a `path` that file is opened, which is written already. False after having
 * said what is wrong. */
bool browser_show(const char *path, const char *name, const char *data, size_t len);
