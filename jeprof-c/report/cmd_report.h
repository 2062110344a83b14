/* One report of what is loaded already, for commands that make several. */
#pragma once

#include <signal.h>

#include "report/load.h"

/* Writes one report of what is loaded, as the options say. The exit status, after having said what is wrong. */
int report_show(const struct loaded *loaded, const struct options *options, const struct inputs *inputs);

/* Set by a signal: the report under way is to end. */
extern volatile sig_atomic_t report_stop;
