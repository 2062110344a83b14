/* How old the memory of a series' rows is, and what these ages make of its growth. */
#pragma once

#include "answers/seriestypes.h"

struct jprof_view;

/* Whether each process with epochs is on both sides of a difference, so that its ages say something of growth. */
bool jp_has_ages_of_both(const struct jprof_profile *difference);

/* Fills in ages, begun, kept and both shapes of the series' rows. `view` is of the whole difference, with ages;
 * `row_of` has the row of each of its stacks, JP_NONE: none. 0, or -1 when memory is short. */
int jp_series_ages(struct jp_series_rows *rows, const struct jprof_view *view, const uint32_t *row_of) jp_must_check;
