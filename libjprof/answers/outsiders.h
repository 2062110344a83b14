/* Parts of the memory of processes that are in no profile, as figures of one moment. */
#ifndef JP_ANSWERS_OUTSIDERS_H
#define JP_ANSWERS_OUTSIDERS_H

#include "jprof.h"

enum { jp_most_outsiders = 10 };

/* The i-th part that counts by itself, from 0; JPROF_PARTS after the last. */
enum jprof_part jp_outsider_at(unsigned i);

/* A part, or JPROF_PART_TOTAL, of what was added or subtracted, in bytes; NAN: not known. What is counted as live and
 * is in no sample is part of what is not explained. */
double jp_outsider_bytes(const struct jprof_profile *profile, bool base, enum jprof_part part);

#endif
