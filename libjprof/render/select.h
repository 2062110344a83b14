/* What a view's pattern (--peek, --list, --disasm) chooses. */
#ifndef JP_RENDER_SELECT_H
#define JP_RENDER_SELECT_H

#include "base/pattern.h"
#include "render/rows.h"

/* The path of a sample's stack. 0, or -1 when memory is short. */
int jp_rows_of_sample(struct jp_rows *rows, const struct jp_sample *sample, struct jp_path *path) jp_must_check;

/* opts->pattern, compiled; `option` is named where it is faulty or missing. */
int jp_view_pattern(const struct jprof_view_opts *opts, const char *option, struct jp_pattern **pattern,
                    struct jprof_error *err);

/* Whether the pattern finds a function by its short name or its full one. */
bool jp_matches_function(const struct jprof_profile *profile, struct jp_pattern *pattern, uint32_t function);

/* JPROF_E_ARGUMENT if PCRE2 gave up on a name. */
int jp_pattern_check(const struct jp_pattern *pattern, const char *option, struct jprof_error *err);

/* The error for a pattern that found nothing. */
int jp_error_no_match(struct jprof_error *err, const char *option, const struct jprof_view_opts *opts);

#endif
