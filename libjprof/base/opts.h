/* Option structs that grow: a caller compiled against an older header gives a shorter one. */
#pragma once

#include <stddef.h>

#include "jprof.h"

/* Copies *given, whose first member is its size, to the `size` bytes of *own; what is missing, or
 * all if `given` is NULL, becomes zero. A longer struct is refused if the rest is not zero: it asks
 * for something that this library does not know. */
int jp_opts_take(void *own, size_t size, const void *given, struct jprof_error *err);
