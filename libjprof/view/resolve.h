/* From the samples of a profile to the stacks of a view. */
#pragma once

#include "view/view.h"

/* Fills in the stacks and their paths, folded and filtered; rows are named, and not counted yet. */
int jp_view_resolve(struct jprof_view *view, const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                    struct jprof_error *err);
