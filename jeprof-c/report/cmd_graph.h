/* Reports that are pictures of the call graph: --dot, --svg ... --web. */
#pragma once

#include "cli/sink.h"
#include "report/load.h"

/* Draws what was loaded. The exit status, after having said what is wrong. */
int graph_report(const struct loaded *loaded, const struct jprof_view *view, const struct options *options,
                 const struct inputs *inputs, struct sink *sink);
