/* A bundle is of one service: reports add up what is in it. */
#pragma once

#include <stdbool.h>

#include "jprof-live.h"
#include "snap/snapopts.h"

/* Whether --puma without a pid has found one Puma at most. Of several it says which there are, and the command for
 * each. Processes that were given by pid are what the user has asked for. */
bool services_are_one(const struct jprof_processes *list, const struct snap_options *options);
