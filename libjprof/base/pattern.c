#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/error.h"

/* Steps of PCRE2 for one text: some tenths of a second. Names need a few hundred. */
enum { match_limit = 1000000 };

struct jp_pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
	bool given_up, short_of_memory;
};

int jp_pattern_new(const char *text, const char *option, struct jp_pattern **out, struct jprof_error *err)
{
	int code;
	PCRE2_SIZE at;
	struct jp_pattern *pattern = calloc(1, sizeof *pattern);
	if (!pattern)
		return jp_error_nomem(err);
	pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (!pattern->code) {
		PCRE2_UCHAR why[128] = "";
		pcre2_get_error_message(code, why, sizeof why);
		free(pattern);
		int rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s: %s, marked by <-- HERE in %.*s <-- HERE %s",
		                  option, (const char *)why, (int)at, text, text + at);
		if (err)
			err->column = (unsigned)at + 1;
		return jp_advise(err, JPROF_ADVICE_PATTERN, rc);
	}
	pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
	pattern->limits = pcre2_match_context_create(NULL);
	if (!pattern->match || !pattern->limits) {
		jp_pattern_free(pattern);
		return jp_error_nomem(err);
	}
	pcre2_set_match_limit(pattern->limits, match_limit);
	*out = pattern;
	return 0;
}

bool jp_pattern_found(struct jp_pattern *pattern, const char *text, size_t len)
{
	int rc = pcre2_match(pattern->code, (PCRE2_SPTR)text, len, 0, 0, pattern->match, pattern->limits);
	pattern->given_up |= rc < PCRE2_ERROR_NOMATCH;
	pattern->short_of_memory |= rc == PCRE2_ERROR_NOMEMORY;
	return rc >= 0;
}

bool jp_pattern_given_up(const struct jp_pattern *pattern)
{
	return pattern && pattern->given_up;
}

int jp_pattern_check(const struct jp_pattern *pattern, const char *option, struct jprof_error *err)
{
	if (!jp_pattern_given_up(pattern))
		return 0;
	if (pattern->short_of_memory)
		return jp_error_nomem(err);
	return jp_advise(err, JPROF_ADVICE_PATTERN,
	                 jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
	                          "%s: takes too much backtracking; give a simpler pattern", option));
}

void jp_pattern_free(struct jp_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}
