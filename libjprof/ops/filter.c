/* Filters as in jeprof: first frames (retain, exclude), then stacks (focus, ignore). What is dropped
 * stays in the profile as bytes without a stack, so that the total remains that of the input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/pattern.h"
#include "base/strbuf.h"
#include "model/profile.h"

enum which { RETAIN, EXCLUDE, FOCUS, IGNORE, FILTERS };

static const char *const names[FILTERS] = { "retain", "exclude", "focus", "ignore" };

struct filter {
	struct jprof_profile *profile;
	struct jp_pattern *pattern[FILTERS];
	signed char *found[FILTERS]; /* by location: 1 yes, -1 no, 0 not yet asked */
	struct jp_strbuf text;
};

static bool match(const struct filter *f, enum which which, const char *text)
{
	return jp_pattern_found(f->pattern[which], text, strlen(text));
}

/* The address as jeprof prints it, when all else is unknown, and beside names in focus and ignore. */
static bool match_address(const struct filter *f, enum which which, const struct jp_location *l)
{
	char text[32];
	snprintf(text, sizeof text, "%016llx", (unsigned long long)l->address);
	return match(f, which, text);
}

static bool match_line(struct filter *f, enum which which, const struct jp_frame *frame)
{
	const struct jp_function *function = &f->profile->functions[frame->function];
	jp_strbuf_cut(&f->text, 0);
	if (function->file == JP_NONE)
		jp_strbuf_str(&f->text, "??:0");
	else
		jp_strbuf_printf(&f->text, "%s:%u", jp_string(f->profile, function->file), frame->line);
	return f->text.text && match(f, which, f->text.text);
}

/* retain and exclude look at the outermost function of a location only, focus and ignore at all. */
static bool test_location(struct filter *f, enum which which, const struct jp_location *l)
{
	bool outermost = which == RETAIN || which == EXCLUDE;
	if (!outermost && match_address(f, which, l))
		return true;
	for (uint32_t i = outermost && l->frame_count ? l->frame_count - 1 : 0; i < l->frame_count; i++) {
		const struct jp_frame *frame = &f->profile->frames[l->frame_first + i];
		const struct jp_function *function = &f->profile->functions[frame->function];
		if (match(f, which, jp_string(f->profile, function->brief)) ||
		    (!outermost && match_line(f, which, frame)))
			return true;
	}
	return false;
}

static bool location_matches(struct filter *f, enum which which, uint32_t location)
{
	signed char *known = &f->found[which][location];
	if (!*known)
		*known = test_location(f, which, &f->profile->locations[location]) ? 1 : -1;
	return *known > 0;
}

static bool keeps_frame(struct filter *f, uint32_t location)
{
	return (!f->pattern[RETAIN] || location_matches(f, RETAIN, location)) &&
	       (!f->pattern[EXCLUDE] || !location_matches(f, EXCLUDE, location));
}

static bool any_matches(struct filter *f, enum which which, const uint32_t *stack, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (location_matches(f, which, stack[i]))
			return true;
	return false;
}

/* Which of the patterns PCRE2 gave up on; FILTERS: none. */
static enum which given_up(const struct filter *f)
{
	enum which i = RETAIN;
	while (i < FILTERS && !jp_pattern_given_up(f->pattern[i]))
		i++;
	return i;
}

static int filter_stack(void *context, uint32_t **start, size_t *depth)
{
	struct filter *f = context;
	uint32_t *stack = *start;
	size_t kept = 0;
	for (size_t i = 0; i < *depth; i++)
		if (keeps_frame(f, stack[i]))
			stack[kept++] = stack[i];
	if ((f->pattern[FOCUS] && !any_matches(f, FOCUS, stack, kept)) ||
	    (f->pattern[IGNORE] && any_matches(f, IGNORE, stack, kept)))
		kept = 0;
	*depth = kept;
	return given_up(f) == FILTERS ? 0 : -1;
}

static int prepare(struct filter *f, const struct jprof_filter_opts *opts, struct jprof_error *err)
{
	const char *texts[FILTERS] = { opts->retain, opts->exclude, opts->focus, opts->ignore };
	for (int i = 0; i < FILTERS; i++) {
		if (!texts[i] || !*texts[i])
			continue;
		int rc = jp_pattern_new(texts[i], names[i], &f->pattern[i], err);
		if (rc)
			return rc;
		f->found[i] = calloc((size_t)jp_location_count(f->profile) + 1, 1);
		if (!f->found[i])
			return jp_error_nomem(err);
	}
	return 0;
}

static int rewrite(struct filter *f, struct jprof_error *err)
{
	if (!jp_samples_rewrite(f->profile, filter_stack, f))
		return 0;
	enum which which = given_up(f);
	if (which == FILTERS)
		return jp_error_nomem(err);
	return jp_advise(err, JPROF_ADVICE_PATTERN,
	                 jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
	                          "%s: takes too much backtracking; give a simpler pattern", names[which]));
}

int jprof_profile_filter(struct jprof_profile *profile, const struct jprof_filter_opts *given, struct jprof_error *err)
{
	struct jprof_filter_opts opts;
	struct filter f = { .profile = profile };
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (!rc)
		rc = prepare(&f, &opts, err);
	if (!rc)
		rc = rewrite(&f, err);
	for (int i = 0; i < FILTERS; i++) {
		jp_pattern_free(f.pattern[i]);
		free(f.found[i]);
	}
	jp_strbuf_release(&f.text);
	return rc;
}

void jprof_profile_drop_negative(struct jprof_profile *profile)
{
	for (uint32_t i = 0; i < jp_sample_count(profile); i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			if (profile->samples[i].value[c] < 0)
				profile->samples[i].value[c] = 0;
}
