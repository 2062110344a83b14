/* A report does not go onto what it is made from. */
#pragma once

#include "report/load.h"

/* False after having said that the file that the report is to go to (be it by redirection) is one of those that the
 * command line gives it to read, or one that is read beside such a dump: the same file, by whatever name. */
bool overwrites_no_input(const struct options *options, const struct inputs *inputs);

/* The same of one file more; a path of NULL is none. `file` is where the report is to go, NULL: standard output. */
bool overwrites_not(const char *file, const char *path);
