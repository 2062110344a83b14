/* What a growing row is made of, and where it came from. */
#pragma once

#include "answers/seriestypes.h"

struct jprof_view;

/* Fills in kind, tags, from and path of the series' rows. `row_of` is the row of each of the view's stacks, JP_NONE:
 * none; `change` what each changed by. 0 or a code. */
int jp_describe_rows(struct jp_series_rows *rows, const struct jprof_profile *difference, const struct jprof_view *view,
                     const uint32_t *row_of, struct jprof_error *err);
