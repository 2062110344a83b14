/* What each tag has, for JSON. */
#pragma once

#include "base/jsonout.h"
#include "view/view.h"

/* Adds the member "tags" where the profile has any: all stacks of the view, which has errors; those that filters
 * dropped too. 0, or -1 when memory is short. */
int jp_put_json_tags(struct jp_jsonout *json, const struct jprof_view *view) jp_must_check;
