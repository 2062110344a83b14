/* What goes to standard error: one line a time, "jprof: ...". */
#ifndef JEPROF_SAY_H
#define JEPROF_SAY_H

#include "jprof.h"

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "jprof: FILE:LINE: what is wrong and what to do". */
void say_error(const struct jprof_error *err);

#endif
