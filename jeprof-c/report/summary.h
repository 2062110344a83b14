/* What stands under the table of one dump on a terminal: where most of it comes from. */
#ifndef JEPROF_SUMMARY_H
#define JEPROF_SUMMARY_H

#include <stdio.h>

#include "report/options.h"

/* Writes the biggest path and the sizes of objects on lines of so many columns at most, and returns how many lines
 * these are: 0 of a difference. -1: memory is short. */
int summary_write(FILE *to, const struct jprof_view *view, const struct options *options, unsigned columns);

#endif
