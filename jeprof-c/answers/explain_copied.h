/* explain --copied: what processes no longer share with their parent since the fork. */
#ifndef JEPROF_EXPLAIN_COPIED_H
#define JEPROF_EXPLAIN_COPIED_H

#include "cli/sink.h"
#include "report/options.h"

/* Prints it of the processes that the options name. False after having said what is wrong. */
bool explain_copied(const struct options *options, struct sink *sink);

#endif
