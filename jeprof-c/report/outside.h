/* What a report says of memory that is in no profile, and of sums over several processes. */
#ifndef JEPROF_OUTSIDE_H
#define JEPROF_OUTSIDE_H

#include "report/load.h"

enum { outside_most = 384 };

/* What the total is of, as words behind it: "in 3 processes, ..."; false: there is nothing to say. */
bool outside_total_of(const struct loaded *loaded, char text[outside_most]);

/* The memory outside of the profile, as one line without its end; false: nothing is known of it. */
bool outside_line(const struct loaded *loaded, bool rss_is_said, char text[outside_most]);

/* For below the first screen: the same in short, and how to read a sum of several processes, a line each; "": nothing.
 */
void outside_notes(const struct loaded *loaded, char lines[2 * outside_most]);

#endif
