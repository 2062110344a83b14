/* jprof keepers --strings: the Strings of a dump of ObjectSpace by the line that allocated them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strings_choice {
	const char *line; /* a pattern; NULL: all lines */
	size_t top;       /* so many lines; 0: all */
	bool show;        /* print how the texts begin */
};

/* Prints them. False after having said what is wrong. */
bool strings_put(const char *path, const struct strings_choice *choice);
