/* The allocation wrappers that are known by name: one table, by project. */
#pragma once

#include <stddef.h>

/* A wrapper gets memory for whoever calls it, so its name does not say what the memory is for. That holds for functions
 * that copy a string or a block, and for those that make a container larger, too. */
struct jp_wrapper_row {
	const char *project;
	const char *const
	    *names; /* short names, as shell patterns with two letters before any wildcard; ends with NULL */
};

/* Ends with a row of NULLs. */
extern const struct jp_wrapper_row jp_wrapper_table[];
