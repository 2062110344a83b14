/* The rows of a series: each difference's stacks are added up by name. */
#pragma once

#include "answers/seriestypes.h"

/* Adds a difference's rows, and where they are as far as that is not known. `main`: with what they are made of and came
 * from. 0 or a code. */
int jp_series_add(struct jp_series_rows *rows, const struct jprof_profile *difference, size_t column, bool main,
                  struct jprof_error *err);

void jp_series_rows_release(struct jp_series_rows *rows);
