/* Ruby's objects in a series, where they were counted. */
#pragma once

#include "answers/seriestypes.h"

/* Fills in the series' objects by what both sides of the whole difference counted. 0, or -1 when memory is short. */
int jp_series_count_objects(struct jprof_series *series, const struct jprof_profile *whole) jp_must_check;
