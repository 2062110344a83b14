/* From the samples of a profile to the stacks of a view. */
#ifndef JP_VIEW_RESOLVE_H
#define JP_VIEW_RESOLVE_H

#include "view/view.h"

/* Fills in the stacks and their paths, folded and filtered; rows are named, and not counted yet. */
int jp_view_resolve(struct jprof_view *view, const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                    struct jprof_error *err);

#endif
