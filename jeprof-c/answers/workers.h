/* In which workers of a service a row grew, and what of it may be from before they were forked. */
#pragma once

#include "answers/measure.h"
#include "answers/seriesload.h"

struct worker_share {
	size_t workers; /* of both snapshots; below 2: nothing is known, nor is what follows */
	size_t grew;    /* of these, for sure by their own 95 % intervals */
	size_t quiet;   /* and those that grew by less than half of an equal part, as surely */
	double master;  /* bytes that the master has at the last snapshot; NAN: there is none, or not one */
};

/* For each of the rows: their workers' part in it, from the first to the last snapshot. A service whose master or
 * workers were replaced has no answer, nor have more workers than are worth the time. */
void workers_find(const struct loaded_series *loaded, const struct inputs *inputs, const struct diff_options *options,
                  const struct jprof_grown *const *rows, size_t count, struct worker_share *shares);

/* "in both workers", "in all 4 workers", "in 1 of 4 workers"; "" where that is not sure. */
struct measured workers_words(const struct worker_share *share);
