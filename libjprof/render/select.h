/* What a report's pattern (--peek, --list, --disasm) chooses. */
#pragma once

#include "base/pattern.h"
#include "view/view.h"

/* opts->pattern, compiled; `option` is named where it is faulty or missing. */
int jp_view_pattern(const struct jprof_report_opts *opts, const char *option, struct jp_pattern **pattern,
                    struct jprof_error *err);

/* Whether the pattern finds a function by its short name or its full one. */
bool jp_matches_function(const struct jprof_view *view, struct jp_pattern *pattern, uint32_t function);

/* The error for a pattern that found nothing. */
int jp_error_no_match(struct jprof_error *err, const char *option, const struct jprof_report_opts *opts);
