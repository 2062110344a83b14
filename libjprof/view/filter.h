/* Filters as in jeprof: first frames (retain, exclude), then stacks (focus, ignore). */
#pragma once

#include "base/pattern.h"
#include "base/strbuf.h"
#include "view/fold.h"
#include "view/group.h"
#include "view/owner.h"

enum jp_filter_kind { JP_RETAIN, JP_EXCLUDE, JP_FOCUS, JP_IGNORE, JP_ALSO_FOCUS, JP_ALSO_IGNORE, JP_FILTERS };

struct jp_filter {
	const struct jp_code *code;
	struct jp_pattern *pattern[JP_FILTERS];
	struct jp_intern parts;         /* places that are part of a location: id and number of frames taken off */
	signed char *found[JP_FILTERS]; /* by location, then by part: 1 yes, -1 no, 0 not asked yet */
	size_t found_cap[JP_FILTERS];
	struct jp_strbuf text;
	uint32_t *scratch; /* what is left where places were taken out */
	size_t scratch_cap;
	bool by_object[JP_FILTERS]; /* it is one of object files: what is behind "lib:"; */
	bool by_group[JP_FILTERS];  /* of what memory is for: behind "group:" */
	struct jp_groups groups;    /* where one is by group */
	struct jp_roles roles;      /* likewise */
	uint32_t *objects;          /* of the stack under way, likewise */
	size_t objects_cap;
	bool short_names; /* full names are not looked at */
	bool any;         /* there is a pattern */
	bool failed;
};

/* Compiles the patterns of `opts`. To be released even if that fails. */
int jp_filter_init(struct jp_filter *filter, const struct jp_code *code, const struct jprof_view_opts *opts,
                   struct jprof_error *err);

/* Takes places out of a stack; none are left of one that is dropped. What is left lies where it did, or in the filter's
 * scratch until the next. */
int jp_filter_stack(struct jp_filter *filter, struct jp_run *run, struct jprof_error *err);

void jp_filter_release(struct jp_filter *filter);
