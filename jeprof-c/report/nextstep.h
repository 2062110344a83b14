/* The next command to type. */
#ifndef JEPROF_NEXTSTEP_H
#define JEPROF_NEXTSTEP_H

#include <stdio.h>

#include "report/load.h"

/* Writes the line with the next command, if one is known that fits; returns the number of lines. */
int next_step_write(FILE *to, const struct loaded *loaded, const struct options *options, const struct inputs *inputs,
                    unsigned columns);

#endif
