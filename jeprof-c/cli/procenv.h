/* The environment that a process was started with. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero: nothing is known. */
struct procenv {
	char *text; /* NAME=VALUE, each with its NUL; NULL: it may not be read, or the process has written over it */
	size_t len;
};

/* False where nothing is known: a process that sets a title longer than its arguments writes it over these. */
bool procenv_read(struct procenv *env, int pid);

/* The value, which lives as long as `env`; NULL: not set. */
const char *procenv_get(const struct procenv *env, const char *name);

void procenv_free(struct procenv *env);
