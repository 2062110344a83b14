/* jprof check --max-unreachable: to how much live memory no pointer was found, in one snapshot, process or core. */
#pragma once

#include "answers/diffopts.h"

/* Judges it and prints the result; returns the status of the program. */
int check_unreachable(const struct diff_options *options);
