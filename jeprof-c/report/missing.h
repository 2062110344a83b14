/* What lacks a name, and what would bring it. */
#pragma once

#include "report/load.h"

enum { missing_most = 4096 + 256 };

/* A sentence where more than a fifth of the bytes in the first `top` rows (0: all) lack a function's name: how many,
 * and the command that helps. False: there is nothing to say. */
bool missing_names(const struct jprof_view *view, const struct options *options, const struct inputs *inputs,
                   size_t top, char text[missing_most]);
