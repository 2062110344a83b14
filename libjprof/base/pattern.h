/* Regular expressions of the user: Perl's syntax, by PCRE2. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "jprof.h"

struct jp_pattern;

/* Compiles `text`; `option` is named in the error, which shows the place of the fault. */
int jp_pattern_new(const char *text, const char *option, struct jp_pattern **pattern, struct jprof_error *err);

/* Whether the pattern is found anywhere in the text. What PCRE2 gives up on (too much
 * backtracking) is not found, and remembered. */
bool jp_pattern_found(struct jp_pattern *pattern, const char *text, size_t len);

/* Whether PCRE2 gave up on a text; false for NULL. */
bool jp_pattern_given_up(const struct jp_pattern *pattern);

/* 0 where it did not, and for NULL; else the error of `option`: the pattern takes too much, or memory is short. */
int jp_pattern_check(const struct jp_pattern *pattern, const char *option, struct jprof_error *err);

void jp_pattern_free(struct jp_pattern *pattern);
