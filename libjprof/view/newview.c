/* Views of a profile: what is asked for, and the whole. */
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "view/heading.h"
#include "view/resolve.h"
#include "view/rowages.h"
#include "view/sitefrom.h"
#include "view/store.h"
#include "view/tally.h"

static int take_opts(struct jprof_view_opts *opts, const struct jprof_view_opts *given, struct jprof_error *err)
{
	int rc = jp_opts_take(opts, sizeof *opts, given, err);
	if (rc)
		return rc;
	const struct {
		const char *what;
		unsigned value, count;
	} words[] = { { "counter", opts->counter, JPROF_COUNTERS },
		      { "granularity", opts->granularity, JPROF_BY_TAG + 1 },
		      { "fold", opts->fold, JPROF_FOLD_RAW + 1 },
		      { "choice of Ruby's frames", opts->ruby, JPROF_RUBY_OFF + 1 },
		      { "heap", opts->heap, JPROF_HEAP_SLOTS + 1 },
		      { "choice of ages", opts->ages, JPROF_AGES_CUM + 1 } };
	for (size_t i = 0; i < jp_count(words); i++)
		if (words[i].value >= words[i].count)
			return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
			                "a view has no %s %u; jprof.h has those that there are", words[i].what,
			                words[i].value);
	return 0;
}

static int name_thread(struct jprof_view *v, const struct jprof_view_opts *opts)
{
	const char *wanted = opts->thread ? opts->thread : v->profile->thread;
	if (opts->thread)
		v->info.thread = v->stack_count ? jp_code_string(&v->code, v->stacks[0].thread) : opts->thread;
	if (wanted)
		v->info.heading = jp_thread_heading(&v->store->places, v->info.thread, wanted);
	return wanted && !v->info.heading ? -1 : 0;
}

static const char *row_name(const void *names, uint32_t row)
{
	return jp_intern_get(names, row);
}

/* A counting sort: thread_first[i + 2] counts the stacks of thread i, then thread_first[i + 1] is where its next goes.
 */
static int index_threads(struct jprof_view *v)
{
	uint32_t *place = calloc((size_t)v->code.strings->count + 1, sizeof *place);
	v->thread_first = calloc(v->thread_count + 2, sizeof *v->thread_first);
	v->by_thread = calloc((size_t)v->stack_count + 1, sizeof *v->by_thread);
	int rc = place && v->thread_first && v->by_thread ? 0 : -1;
	for (uint32_t i = 0; !rc && i < v->thread_count; i++)
		place[v->threads[i]] = i + 1;
	for (uint32_t i = 0; !rc && v->thread_count && i < v->stack_count; i++)
		if (v->stacks[i].thread != JP_NONE && place[v->stacks[i].thread])
			v->thread_first[place[v->stacks[i].thread] + 1]++;
	for (size_t i = 1; !rc && i < v->thread_count + 2; i++)
		v->thread_first[i] += v->thread_first[i - 1];
	for (uint32_t i = 0; !rc && v->thread_count && i < v->stack_count; i++)
		if (v->stacks[i].thread != JP_NONE && place[v->stacks[i].thread])
			v->by_thread[v->thread_first[place[v->stacks[i].thread]]++] = i;
	free(place);
	return rc;
}

/* 0, or -1 when memory is short. */
static int find_ages(struct jprof_view *v, const struct jprof_view_opts *opts)
{
	struct jp_ages *ages = &v->store->ages;
	bool labelled = opts->labels && jp_epochs_dated(&v->profile->epochs);
	if (!opts->ages && !opts->older && !opts->newer && !labelled)
		return 0;
	if (jp_ages_init(ages, &v->profile->epochs))
		return -1;
	v->ages = ages;
	v->info.older = opts->older ? jp_age_border(ages, opts->older) : 0;
	v->info.newer = opts->newer ? jp_age_border(ages, opts->newer) : 0;
	v->info.older += opts->older && !v->info.older; /* 0 is no filter */
	v->info.newer += opts->newer && !v->info.newer;
	return 0;
}

/* What the rules say of rows that are groups. */
static void note_rules(struct jprof_view *v, const struct jp_rows *rows)
{
	for (uint32_t i = 0; rows->of_row && i < v->row_count; i++)
		if (rows->of_row[i] && v->info.granularity == JPROF_BY_GROUP) {
			v->rows[i].what = rows->of_row[i]->what;
			v->rows[i].remedy = rows->of_row[i]->remedy;
		}
}

/* Whether the profile has what is asked for. */
static int check_asked(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jprof_error *err)
{
	if (!profile->named)
		return jp_error(
		    err, JPROF_E_ARGUMENT, NULL, 0,
		    "a view is of a profile whose names were looked for: call jprof_profile_symbolize first");
	if (opts->labels && (opts->errors || opts->ages))
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "a view with labels has neither errors nor ages");
	if (profile->lean && (opts->errors || opts->ages))
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	if ((opts->ages || opts->older || opts->newer) && !jp_epochs_dated(&profile->epochs))
		return jp_advise(
		    err, JPROF_ADVICE_AGES,
		    jp_error(
			err, JPROF_E_ARGUMENT, NULL, 0,
			"the dump does not say when its samples were allocated; the table that an agent writes beside a dump does"));
	if ((opts->granularity == JPROF_BY_TAG || (opts->tag && *opts->tag)) && !profile->tags.count)
		return jp_advise(err, JPROF_ADVICE_TAGS,
		                 jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "no stack of the dump has a tag"));
	return 0;
}

int jprof_view_new(const struct jprof_profile *profile, const struct jprof_view_opts *given, struct jprof_view **out,
                   struct jprof_error *err)
{
	if (jp_null(err, profile, out))
		return JPROF_E_ARGUMENT;
	struct jprof_view_opts opts;
	int rc = take_opts(&opts, given, err);
	if (!rc)
		rc = check_asked(profile, &opts, err);
	if (rc)
		return rc;
	struct jprof_view *v = calloc(1, sizeof *v);
	if (!v)
		return jp_error_nomem(err);
	*v = (struct jprof_view){
		.code = jp_code_of(profile),
		.info = { .counter = opts.counter,
		          .granularity = opts.granularity,
		          .full_names = opts.full_names,
		          .errors = opts.errors,
		          .ages = opts.ages,
		          .difference = profile->lineage.subtracted },
		.percent_of_base = opts.percent_of_base,
		.percent_of_changes = opts.percent_of_changes,
		.lineage = profile->lineage,
		.profile = profile,
		.threads = profile->threads,
		.thread_count = opts.thread ? 0 : profile->thread_count,
	};
	v->store = calloc(1, sizeof *v->store);
	rc = v->store && !find_ages(v, &opts) ? jp_view_resolve(v, profile, &opts, err) : jp_error_nomem(err);
	if (!rc && (name_thread(v, &opts) || index_threads(v) || jp_view_tally(v, row_name, &v->store->rows.names) ||
	            jp_find_callers(v, opts.trim_path)))
		rc = jp_error_nomem(err);
	if (!rc)
		note_rules(v, &v->store->rows);
	if (rc)
		jprof_view_free(v);
	else
		*out = v;
	return rc;
}

const struct jprof_view_info *jprof_view_info(const struct jprof_view *view)
{
	return view ? &view->info : NULL;
}

size_t jprof_view_threads(const struct jprof_view *view)
{
	return view ? view->thread_count : 0;
}

void jprof_view_free(struct jprof_view *v)
{
	if (!v)
		return;
	if (v->whole) {
		free(v->row_object);
		free(v->row_of_frame);
		free(v->row_of_object);
	}
	if (v->store) {
		jp_arena_release(&v->store->places);
		jp_rows_release(&v->store->rows);
		jp_origins_release(&v->store->origins);
		jp_ages_release(&v->store->ages);
		free(v->store->location_of);
	}
	free(v->store);
	free(v->stacks);
	free(v->labelled);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		free(v->values[c]);
	free(v->bases);
	free(v->base_objects);
	free(v->paths);
	jp_slices_release(&v->slices);
	jp_slices_release(&v->row_slices);
	free(v->evidence);
	free(v->rows);
	free(v->row_evidence);
	free(v->nameless);
	free(v->by_thread);
	free(v->thread_first);
	free(v);
}
