/* The sentence over the table on a terminal: whose memory it is, how much, and how sure that is. */
#ifndef JEPROF_HEADLINE_H
#define JEPROF_HEADLINE_H

#include "report/load.h"

/* For free(); NULL when memory is short. */
char *headline(const struct loaded *loaded, const struct jprof_view *view, const struct options *options,
               const struct inputs *inputs);

enum { headline_amount_most = 64 };

/* An amount of what a view counts, as the sentence has it: "412 MB", "7.4 million objects". Without its sign. */
void headline_amount(char text[headline_amount_most], const struct jprof_view *view, const struct options *options,
                     double value);

#endif
