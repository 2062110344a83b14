/* Which processes the command line of snap means. */
#pragma once

#include "jprof-live.h"
#include "snap/snapopts.h"

/* NULL after having said what is wrong. The list may be empty: selection_say_none says so. */
struct jprof_processes *selection_find(const struct snap_options *options);
void selection_say_none(const struct snap_options *options);
