/* What a report says of memory that is in no profile, and of sums over several processes. */
#pragma once

#include "base/strbuf.h"
#include "report/load.h"

/* Each adds to an empty text, and nothing where nothing is known. */

/* What the total is of, as words behind it: "in 3 processes, ...". */
void outside_total_of(const struct loaded *loaded, struct jp_strbuf *text);

/* The memory outside of the profile, as one line without its end. */
void outside_line(const struct loaded *loaded, bool rss_is_said, struct jp_strbuf *text);

/* For below the first screen: the same in short, and how to read a sum of several processes, a line each. */
void outside_notes(const struct loaded *loaded, struct jp_strbuf *lines);
