#include "answers/advice.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/profile.h"

static double bytes_of_part(const struct jprof_explanation *e, enum jprof_part part)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->rows[i].part == part)
			return e->rows[i].bytes;
	return 0;
}

/* Only what is worth a line: a saving of less than this part of the memory is none. */
static const double least_share = 0.02;

static int add_help(struct jprof_explanation *e, enum jprof_help_kind kind, double saves, bool part)
{
	double all = isnan(e->info.total) ? bytes_of_part(e, JPROF_PART_LIVE) : e->info.total;
	if (!(saves >= least_share * all) || !(saves > 0))
		return 0;
	if (jp_array_push(e->helps, e->help_count, e->help_cap))
		return -1;
	e->helps[e->help_count++] = (struct jprof_help){ .kind = kind, .saves = saves, .part = part };
	return 0;
}

/* What is sure to be saved comes first, then the larger. */
static int compare_helps(const void *a, const void *b)
{
	const struct jprof_help *x = a, *y = b;
	if (x->part != y->part)
		return x->part - y->part;
	return x->saves != y->saves ? (x->saves < y->saves) - (x->saves > y->saves) : (int)x->kind - (int)y->kind;
}

/* The first Ruby that has Process.warmup, which lets objects made before a fork stay shared. */
static const unsigned first_with_warmup = 303;

/* A sample every 4 times as many bytes leaves a quarter of the samples. */
static const double fewer_samples = 0.75;

/* What workers no longer share, or may yet copy where that is not known. */
static double copied_since_fork(const struct jprof_explain_info *info)
{
	if (info->before_fork > info->still_shared)
		return (info->before_fork - info->still_shared) * info->workers;
	return info->processes > 1 ? info->shared : 0;
}

/* Whether freed pages go within a second: nothing is left to advise. */
static bool gives_back_soon(const struct jprof_settings *s)
{
	enum { soon_ms = 1000 };
	return s->background_thread && s->dirty_decay_ms >= 0 && s->dirty_decay_ms <= soon_ms;
}

int jp_explain_helps(struct jprof_explanation *e, const struct jprof_profile *now)
{
	enum { few_arenas = 2 };
	const struct jprof_settings *s = &e->info.settings;
	double waste = bytes_of_part(e, JPROF_PART_FRAGMENTATION) - bytes_of_part(e, JPROF_PART_PADDING) +
	               bytes_of_part(e, JPROF_PART_CACHED);
	double freed = bytes_of_part(e, JPROF_PART_DIRTY) + bytes_of_part(e, JPROF_PART_MUZZY);
	if ((!gives_back_soon(s) && add_help(e, JPROF_HELP_DECAY, freed, false)) ||
	    add_help(e, JPROF_HELP_SAMPLING, bytes_of_part(e, JPROF_PART_SAMPLE_PAGES) * fewer_samples, false) ||
	    (now->info.has_alloc && add_help(e, JPROF_HELP_ACCUMULATE, bytes_of_part(e, JPROF_PART_INTERNAL), true)) ||
	    (s->arenas > few_arenas && s->arenas_used > few_arenas && add_help(e, JPROF_HELP_ARENAS, waste, true)) ||
	    (e->info.seen.arenas > few_arenas * e->info.processes &&
	     add_help(e, JPROF_HELP_GLIBC, jprof_profile_figure(now, false, JPROF_FIGURE_ARENAS), true)) ||
	    add_help(e, JPROF_HELP_GC_FREE, bytes_of_part(e, JPROF_PART_GC_FREE), true))
		return -1;
	if (jp_ruby_version_number(s->ruby) >= first_with_warmup &&
	    add_help(e, JPROF_HELP_WARMUP, copied_since_fork(&e->info), true))
		return -1;
	if (e->help_count)
		qsort(e->helps, e->help_count, sizeof *e->helps, compare_helps);
	return 0;
}
