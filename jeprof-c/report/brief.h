/* jprof info on one screen: which files the memory lies in, how well they are named, and what would name the rest. */
#pragma once

#include "report/options.h"

/* Prints it in at most `lines` lines, but five files at least. False when memory is short, which has been said. */
bool put_brief(const struct jprof_coverage *coverage, const struct options *options, size_t lines);
