/* The sentence over the table on a terminal: whose memory it is, how much, and how sure that is. */
#ifndef JEPROF_HEADLINE_H
#define JEPROF_HEADLINE_H

#include "report/load.h"

/* For free(); NULL when memory is short. */
char *headline(const struct loaded *loaded, const struct jprof_view *view, const struct options *options,
               const struct inputs *inputs);

#endif
