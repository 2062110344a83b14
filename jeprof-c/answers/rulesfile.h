/* A file of rules that say what memory is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The text of --rules=FILE, to be freed; a path of NULL is no text. False after having said why it cannot be read; then
 * there is none, either. */
bool rules_load(const char *path, char **text, size_t *len);
