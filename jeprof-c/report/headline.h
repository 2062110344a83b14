/* The sentence over the table on a terminal: whose memory it is, how much, and how sure that is. */
#pragma once

#include "base/strbuf.h"
#include "report/load.h"

/* For free(); NULL when memory is short. */
char *headline(const struct loaded *loaded, const struct jprof_view *view, const struct options *options,
               const struct inputs *inputs);

/* Adds, behind a full stop, "The biggest line is app/models/cart.rb:9, 42 MB (50 %)."; nothing of a difference, and
 * where that has no name.
 */
void headline_add_biggest(struct jp_strbuf *text, const struct jprof_view *view, const struct options *options);

/* Bytes that all processes have, what they share once; NAN: not known. */
double headline_memory(const struct loaded *loaded);

/* How that sentence begins: "shop: Puma, master and 2 workers". */
void headline_add_whose(struct jp_strbuf *text, const struct loaded *loaded, const struct jprof_view *view,
                        const struct inputs *inputs);

enum { headline_amount_most = 64, headline_share_most = 24 };

/* An amount of what a view counts, as the sentence has it: "412 MB", "7.4 million objects". Without its sign. */
void headline_amount(char text[headline_amount_most], const struct jprof_view *view, const struct options *options,
                     double value);

/* The same of a part: in the unit of the whole, or in its own where that is too large for it. */
void headline_part(char text[headline_amount_most], const struct jprof_view *view, const struct options *options,
                   double part, double whole);

/* "50 %", "under 1 %": without its sign; 0 % of nothing. */
void headline_share(char text[headline_share_most], double part, double whole);
