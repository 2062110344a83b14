/* The next command to type. */
#pragma once

#include <stdio.h>

#include "cli/typed.h"
#include "report/load.h"

/* Writes the line with the next command, if one is known that fits; returns the number of lines. */
int next_step_write(FILE *to, const struct loaded *loaded, const struct options *options, const struct inputs *inputs,
                    unsigned columns);

/* Adds the options in whose light files are read: where names are looked for, and which member of a bundle. */
void next_step_lookup(struct typed *command, const struct options *options);
