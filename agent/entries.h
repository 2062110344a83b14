/* The names in a directory, read without memory of the program's. */
#pragma once

#include <stdbool.h>

/* Calls `each` for every name in an open directory, until it returns false. Returns 0 or an errno. Not for two threads
 * at once. */
int entries_read(int fd, bool (*each)(const char *name, void *arg), void *arg);
