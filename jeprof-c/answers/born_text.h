/* jprof diff of dumps of ObjectSpace: what was born after the first and lives in the last. */
#ifndef JEPROF_BORN_TEXT_H
#define JEPROF_BORN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct sink;

/* Whether all operands are such dumps. */
bool born_is_wanted(char *const *paths, size_t count);

/* Prints it for two or three dumps in their order, with so many lines; 0: all. False after having said what is wrong.
 */
bool born_put(char *const *paths, size_t count, size_t top, struct sink *sink);

#endif
