/* Names are found in a child that can do no harm: symbols and debug information of others may make a library crash,
 * spin, take all memory or do what their maker wants. The program opens every file by its rules and hands over
 * descriptors. The child is begun with the first question and answers all that follow; where it ends badly, that
 * question has no answer, and the next one gets a new child. A child sees files of one owner and one directory, or
 * those of the system: no file can change names of another's. */
#pragma once

#include <stdbool.h>

#include "jprof.h"

/* For jprof_symbolize_opts.finder; NULL, which is for none, where `off` (--no-sandbox). Of the main thread. */
const struct jprof_name_finder *sandbox_finder(bool off);

/* Ends the children: what comes next shares none with what came before. */
void sandbox_end(void);
