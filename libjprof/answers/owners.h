/* Whose the live memory is: rows of kinds, and of the groups in them. */
#ifndef JP_ANSWERS_OWNERS_H
#define JP_ANSWERS_OWNERS_H

#include "answers/explanation.h"

/* Views with errors of a profile, and of its difference to an earlier one (NULL: there is none). */
struct jp_owner_views {
	struct jprof_view *kind, *group;
	struct jprof_view *place; /* of now by line of Ruby, where there is none by group or function */
	struct jprof_view *kind_change, *group_change;
};

/* To be released in either case; `change` may be NULL. The profiles must outlive the views. */
int jp_owner_views_make(struct jp_owner_views *views, const struct jprof_profile *now,
                        const struct jprof_profile *change, const struct jprof_explain_opts *opts,
                        struct jprof_error *err);
void jp_owner_views_release(struct jp_owner_views *views);

/* Adds the kinds of the memory as rows of depth 1, largest first, and behind each its groups as rows of depth 2. */
int jp_explain_owners(struct jprof_explanation *explanation, const struct jp_owner_views *views,
                      struct jprof_error *err);

#endif
