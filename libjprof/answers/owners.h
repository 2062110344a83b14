/* Whose the live memory is: rows of kinds, and of the groups in them. */
#pragma once

#include "answers/explanation.h"

/* Views with errors of a profile, and of its difference to an earlier one (NULL: there is none). */
struct jp_owner_views {
	struct jprof_view *group, *group_change;
	struct jprof_view *site;        /* of now by line of Ruby, else by function; NULL: groups tell more */
	const struct jprof_view *place; /* one of them: what tells owners apart best */
};

/* To be released in either case; `change` may be NULL. The profiles must outlive the views. */
int jp_owner_views_make(struct jp_owner_views *views, const struct jprof_profile *now,
                        const struct jprof_profile *change, const struct jprof_explain_opts *opts,
                        struct jprof_error *err);
void jp_owner_views_release(struct jp_owner_views *views);

/* Adds the kinds of the memory as rows of depth 1, largest first, and behind each its groups as rows of depth 2. */
int jp_explain_owners(struct jprof_explanation *explanation, const struct jp_owner_views *views,
                      struct jprof_error *err);
