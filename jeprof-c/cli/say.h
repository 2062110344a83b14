/* What goes to standard error: one line a time, "jprof: ...". */
#ifndef JEPROF_SAY_H
#define JEPROF_SAY_H

#include "jprof.h"

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What follows a text of the library that comes with this advice: the options that help; "": nothing. */
const char *advice_after(enum jprof_advice advice);

/* A text of the library with what it advises, in terms of this program. */
void say_advised(const char *text, enum jprof_advice advice);

/* "jprof: FILE:LINE: what is wrong and what to do". */
void say_error(const struct jprof_error *err);

#endif
