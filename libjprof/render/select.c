#include "render/select.h"

#include <string.h>

#include "base/error.h"

int jp_view_pattern(const struct jprof_report_opts *opts, const char *option, struct jp_pattern **pattern,
                    struct jprof_error *err)
{
	if (!opts->pattern || !*opts->pattern)
		return jp_advise(
		    err, JPROF_ADVICE_PATTERN,
		    jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s=RE: give a pattern for names of functions", option));
	return jp_pattern_new(opts->pattern, option, pattern, err);
}

static bool found_in(struct jp_pattern *pattern, const char *text)
{
	return !jp_pattern_given_up(pattern) && jp_pattern_found(pattern, text, strlen(text));
}

bool jp_matches_function(const struct jprof_view *view, struct jp_pattern *pattern, uint32_t function)
{
	const struct jp_function *f = &view->code.functions[function];
	return found_in(pattern, jp_code_name(&view->code, function, false)) ||
	       (f->name != f->brief && found_in(pattern, jp_code_name(&view->code, function, true)));
}

int jp_error_no_match(struct jprof_error *err, const char *option, const struct jprof_report_opts *opts)
{
	return jp_advise(err, JPROF_ADVICE_FUNCTION,
	                 jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s=%s: no function with memory has such a name",
	                          option, opts->pattern));
}
