/* Reports that are pictures of the call graph: --dot, --svg ... --web. */
#ifndef JEPROF_CMD_GRAPH_H
#define JEPROF_CMD_GRAPH_H

#include "cli/sink.h"
#include "report/load.h"

/* Whether a report of this name is one; whether it is nothing for a terminal. */
bool graph_is(const char *output);
bool graph_is_binary(const char *output);

/* Draws what was loaded. The exit status, after having said what is wrong. */
int graph_report(const struct loaded *loaded, const struct options *options, const struct inputs *inputs,
                 const struct jprof_view_opts *view, struct sink *sink);

#endif
