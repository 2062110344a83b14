/* What goes to standard error: one line a time, "jprof: ...". */
#pragma once

#include "jprof.h"

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* From here on messages come last, below what is printed, where both go to a terminal: the answer stands first. What
 * was kept is said by say_kept(), which main() calls. */
void say_at_end(void);
void say_kept(void);

/* How many lines of a terminal the messages have taken so far; 0 where they go elsewhere. */
size_t say_lines(void);

/* Fills *err with a code, a path ("": none) and a text, as the library does; returns the code. */
int fail_as(struct jprof_error *err, int code, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* What follows a text of the library that comes with this advice: the options that help; "": nothing. */
const char *advice_after(enum jprof_advice advice);

/* A text of the library with what it advises, in terms of this program. */
void say_advised(const char *text, enum jprof_advice advice);

/* "jprof: FILE:LINE: what is wrong and what to do". */
void say_error(const struct jprof_error *err);
