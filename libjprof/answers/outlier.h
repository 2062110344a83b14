/* The process that grew by far the most. */
#pragma once

#include "answers/seriestypes.h"
#include "model/pairs.h"

/* Fills in the outlier of a series, by RSS, among processes of one role that are on both sides. 0, or -1 when memory is
 * short. */
int jp_find_outlier(struct jprof_series *series, const struct jp_compared *compared) jp_must_check;
