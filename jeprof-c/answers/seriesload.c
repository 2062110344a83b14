#include "answers/seriesload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rubylines.h"
#include "answers/rulesfile.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "report/nextstep.h"
#include "report/order.h"

/* Each snapshot less the one before, and the last less the first: one profile for each column of differences. */
struct differences {
	struct loaded *steps;
	size_t count;
	struct loaded whole;
};

static bool load_difference(struct loaded *loaded, const struct inputs *inputs, const struct options *given, int from,
                            int to)
{
	struct options o = *given;
	struct inputs later = { .program = inputs->program,
		                .from_path = inputs->from_path,
		                .dumps = inputs->dumps + to,
		                .dump_count = 1,
		                .live = inputs->live,
		                .live_count = inputs->live_count };
	o.diff_base = inputs->dumps[from];
	return load_profile(loaded, &later, &o);
}

/* The last less the first. */
static const struct jprof_profile *whole_difference(const struct differences *d)
{
	return d->count > 1 ? d->whole.profile : d->steps[0].profile;
}

static bool load_differences(struct differences *d, const struct inputs *inputs, const struct options *o)
{
	int last = inputs->dump_count - 1;
	d->count = (size_t)last;
	d->steps = calloc(d->count, sizeof *d->steps);
	if (!d->steps)
		say("memory is short");
	bool good = d->steps;
	for (int i = 0; good && i < last; i++)
		good = load_difference(&d->steps[i], inputs, o, i, i + 1);
	return good && (last == 1 || load_difference(&d->whole, inputs, o, 0, last));
}

static void release_differences(struct differences *d)
{
	for (size_t i = 0; d->steps && i < d->count; i++)
		loaded_free(&d->steps[i]);
	free(d->steps);
	loaded_free(&d->whole);
}

/* ---- notes ------------------------------------------------------------------------------------------------- */

/* Notes of libjprof that are about what the snapshots are of begin so. */
static bool is_about_snapshots(const char *note)
{
	static const char *const begins[] = { "replaced between the two", "not the same processes",
		                              "the later one is of", "the two have no stack in common" };
	if (strstr(note, "the profiles have two builds of it"))
		return true;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(note, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool keep_notes(struct loaded_series *l, const struct jprof_profile *profile, bool about)
{
	for (size_t i = 0; i < jprof_profile_notes(profile); i++) {
		const char *note = jprof_profile_note(profile, i);
		if (is_about_snapshots(note) == about && !(l->notes[l->note_count++] = strdup(note)))
			return false;
	}
	return true;
}

/* Of two scripts under one Ruby. */
static bool keep_scripts(struct loaded_series *l)
{
	const struct jprof_series_info *info = jprof_series_info(l->series);
	if (!*info->scripts[0])
		return true;
	bool kept =
	    asprintf(&l->notes[l->note_count],
	             "the later one is of %.80s and the base of %.80s: a difference of two programs is no growth",
	             info->scripts[1], info->scripts[0]) >= 0;
	l->note_count += kept;
	return kept;
}

static bool take_notes(struct loaded_series *l, const struct jprof_profile *profile)
{
	l->notes = calloc(jprof_profile_notes(profile) + 2, sizeof *l->notes);
	if (!l->notes || !keep_scripts(l) || !keep_notes(l, profile, true))
		return false;
	l->about = l->note_count;
	return keep_notes(l, profile, false);
}

/* ---- the series ------------------------------------------------------------------------------------------- */

enum jprof_granularity series_granularity(int by, bool ruby)
{
	static const enum jprof_granularity of[] = {
		[BY_FUNCTION] = JPROF_BY_FUNCTION, [BY_LINE] = JPROF_BY_LINE,     [BY_FILE] = JPROF_BY_FILE,
		[BY_LIB] = JPROF_BY_LIBRARY,       [BY_GROUP] = JPROF_BY_GROUP,   [BY_TAG] = JPROF_BY_TAG,
		[BY_STACK] = JPROF_BY_FUNCTION,    [BY_SIZE] = JPROF_BY_FUNCTION, [BY_REFERRER] = JPROF_BY_FUNCTION,
	};
	bool lines = by == BY_USUAL || by == BY_LINE || by == BY_STACK;
	if (ruby && lines)
		return JPROF_BY_SITE;
	return by == BY_USUAL ? JPROF_BY_FUNCTION : of[by];
}

static int new_series(const struct differences *d, const struct diff_options *o, int by, struct jprof_series **series,
                      struct jprof_error *err)
{
	const struct jprof_profile *whole = whole_difference(d);
	const struct jprof_profile **steps = shortage_note(calloc(d->count, sizeof *steps));
	struct jprof_view_opts view = options_view(&o->common);
	struct jprof_series_opts opts = { .size = sizeof opts, .view = &view, .collected = o->assume_gc };
	view.granularity = series_granularity(by, jprof_profile_info(whole)->has_ruby);
	opts.rows = by == BY_STACK      ? JPROF_SERIES_STACKS
	            : by == BY_SIZE     ? JPROF_SERIES_SIZES
	            : by == BY_REFERRER ? JPROF_SERIES_REFERRERS
	                                : JPROF_SERIES_VIEW;
	for (size_t i = 0; steps && i < d->count; i++)
		steps[i] = d->steps[i].profile;
	char *rules = NULL;
	int rc = !steps ? JPROF_E_NOMEM : rules_load(o->common.rules, &rules, &view.rules_len) ? 0 : JPROF_E_IO;
	view.rules = rules;
	rc = rc ? rc : jprof_series_new(steps, d->count, whole, &opts, series, err);
	free(rules);
	free(steps);
	if (rc == JPROF_E_FORMAT)
		snprintf(err->path, sizeof err->path, "%s", o->common.rules);
	return rc;
}

/* Whether the first row of the profile that grew has a name; one without is "libruby-3.1!0x1ea6d0". */
static bool names_growth(const struct jprof_series *series)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (row->part == JPROF_PART_LIVE &&
		    (row->verdict == JPROF_LEAK_SUSPECT || row->verdict == JPROF_GROWING ||
		     row->verdict == JPROF_MAYBE_GARBAGE))
			return !strstr(row->name, "!0x") && !strstr(row->name, "+0x");
	return false;
}

/* Without lines of Ruby one line's memory is in the rows of many functions, of which none may have grown for sure, or
 * the first has no name. Then rows are what the memory is for, if that names what grew. */
static int group_rows(struct loaded_series *l, const struct differences *d, const struct diff_options *o,
                      struct jprof_error *err)
{
	struct jprof_series *groups = NULL;
	bool lines = jprof_profile_info(whole_difference(d))->has_ruby;
	if (!o->may_group || o->by != BY_USUAL || lines || !jprof_series_info(l->series)->ruby ||
	    !series_all_grew(l->series) || names_growth(l->series))
		return 0;
	int rc = new_series(d, o, BY_GROUP, &groups, err);
	if (!rc && names_growth(groups)) {
		struct jprof_series *functions = l->series;
		l->series = groups;
		groups = functions;
		l->by = BY_GROUP;
	}
	jprof_series_free(groups);
	return rc;
}

static bool make_loaded_series(struct loaded_series *l, const struct differences *d, const struct diff_options *o)
{
	struct jprof_error err;
	const struct jprof_profile *whole = whole_difference(d);
	l->by = o->by;
	int rc = new_series(d, o, o->by, &l->series, &err);
	rc = rc ? rc : group_rows(l, d, o, &err);
	if (rc && rc != JPROF_E_NOMEM && rc != JPROF_E_IO)
		say_error(&err);
	if (!rc && o->by == BY_REFERRER && !jprof_series_info(l->series)->referrers) {
		say("what points to the memory is not known of each snapshot: take them with jprof snap --referrers");
		return false;
	}
	if (!rc && take_notes(l, whole)) {
		const struct jprof_series_info *info = jprof_series_info(l->series);
		ruby_lines_command(&l->lines, whole, info->ruby || info->counted, info->title);
		return true;
	}
	if (!rc || rc == JPROF_E_NOMEM)
		say("memory is short");
	return false;
}

bool series_of_difference(struct loaded_series *l, const struct loaded *change, const struct diff_options *o)
{
	struct loaded step = *change;
	const struct differences d = { .steps = &step, .count = 1 };
	*l = (struct loaded_series){ 0 };
	return make_loaded_series(l, &d, o);
}

struct jprof_series *series_of_member(const struct loaded_series *l, const struct inputs *inputs,
                                      const struct diff_options *given, const char *pid)
{
	struct diff_options o = *given;
	struct loaded change = { 0 };
	struct differences d = { .steps = &change, .count = 1 };
	struct jprof_series *series = NULL;
	struct jprof_error err;
	o.common.member = pid;
	if (load_difference(&change, inputs, &o.common, 0, inputs->dump_count - 1) &&
	    new_series(&d, &o, l->by, &series, &err))
		series = NULL;
	loaded_free(&change);
	return series;
}

bool series_all_grew(const struct jprof_series *series)
{
	enum jprof_verdict verdict = jprof_series_malloc(series)->verdict;
	return verdict == JPROF_LEAK_SUSPECT || verdict == JPROF_GROWING;
}

void diff_next_command(struct typed *command, const char *words, const struct loaded_series *l,
                       const struct diff_options *o)
{
	typed_add(command, words);
	next_step_lookup(command, &o->common);
	if (l->program)
		typed_word(command, l->program);
}

bool series_load(struct loaded_series *l, const struct inputs *inputs, const struct diff_options *o)
{
	struct differences d = { 0 };
	*l = (struct loaded_series){ .paths = (const char *const *)inputs->dumps,
		                     .count = (size_t)inputs->dump_count,
		                     .program = inputs->program };
	if (inputs->dump_count < 2) {
		struct typed alone = { 0 };
		diff_next_command(&alone, "jprof explain", l, o);
		typed_word(&alone, inputs->dumps[0]);
		say("%s takes two snapshots or more, the first one first; one alone: %s", o->common.output,
		    alone.failed ? "jprof explain" : alone.text);
		return false;
	}
	bool good = (inputs->live_count || order_series(inputs->dumps, inputs->dump_count)) &&
	            load_differences(&d, inputs, &o->common) && make_loaded_series(l, &d, o);
	release_differences(&d);
	return good;
}

void series_release(struct loaded_series *l)
{
	for (size_t i = 0; l->notes && i < l->note_count; i++)
		free(l->notes[i]);
	free(l->notes);
	jprof_series_free(l->series);
}
