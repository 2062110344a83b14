/* jprof diff --objects of snapshots: which objects of a process were born after the first and live in the last, and who
 * keeps them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sink;

/* Prints it for two or three snapshots in their order, of the process `member` (a name, pid or role; NULL: the one with
 * most objects in the last), with so many keepers; 0: all; fits: as much of it as
 * the height of the terminal has room for. False after having said what is wrong. */
bool born_snapshots_put(char *const *paths, size_t count, const char *member, size_t top, bool fits, struct sink *sink);
