/* All formats of reports: those of the library, and pictures. */
#pragma once

#include <stddef.h>

#include "jprof.h"

/* The i-th, or NULL after the last; the one of that name, or NULL. */
const struct jprof_format *format_at(size_t i);
const struct jprof_format *format_find(const char *name);

/* The kind of picture that is drawn for a format of that name (for "web" it is another); NULL: it is no picture. */
const char *format_picture(const char *name);
