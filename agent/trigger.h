/* Dumps that nobody asks for: every so often, or before memory runs out. */
#pragma once

#include "config.h"

/* Starts the clocks, in each process. */
void trigger_start(const struct config *config);

/* How long the thread may sleep, in ms; -1: for ever. */
int trigger_timeout(void);

/* Makes the dumps that are due. */
void trigger_run(void);
