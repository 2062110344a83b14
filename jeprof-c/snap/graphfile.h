/* The graph of a Ruby's objects on its way from a pipe into a bundle. */
#pragma once

#include <stdio.h>

/* Reads the pipe to its end, in at most so many milliseconds, into a file without a name, and closes it. NULL with a
 * reason: it did not come to its end, or there is no room for it. */
FILE *graph_file_take(int fd, unsigned milliseconds, const char **why);
