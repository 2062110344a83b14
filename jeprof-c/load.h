/* From the words of the command line to a profile with names. */
#ifndef JEPROF_LOAD_H
#define JEPROF_LOAD_H

#include "options.h"

/* What the operands mean. */
struct inputs {
	char *program; /* path of the program, or NULL; owned */
	char **dumps;  /* part of the operands */
	int dump_count;
};

/* Finds out which operand is the program: the first, unless it is a dump. A bare name is looked
 * up here and then in PATH. False after having said what is wrong. */
bool inputs_find(struct inputs *inputs, const struct options *options);

/* Reads all dumps, adds them up, subtracts the base, names and folds. *base_total is the base's own
 * total of the chosen counter, 0 without one. NULL after having said what is wrong. */
struct jprof_profile *load_profile(const struct inputs *inputs, const struct options *options, double *base_total);

#endif
