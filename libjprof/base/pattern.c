#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct jp_pattern {
	pcre2_code *code;
	pcre2_match_data *match;
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
		int rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "--%s: %s, marked by <-- HERE in %.*s <-- HERE %s",
		                  option, (const char *)why, (int)at, text, text + at);
		if (err)
			err->column = (unsigned)at + 1;
		return rc;
	}
	pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
	if (!pattern->match) {
		jp_pattern_free(pattern);
		return jp_error_nomem(err);
	}
	*out = pattern;
	return 0;
}

bool jp_pattern_found(const struct jp_pattern *pattern, const char *text, size_t len)
{
	return pcre2_match(pattern->code, (PCRE2_SPTR)text, len, 0, 0, pattern->match, NULL) >= 0;
}

void jp_pattern_free(struct jp_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}
