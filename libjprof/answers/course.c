/* A series of snapshots: what grew, with a verdict for each row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/ageshapes.h"
#include "answers/courserows.h"
#include "answers/livesizes.h"
#include "answers/mainscript.h"
#include "answers/objectrows.h"
#include "answers/outlier.h"
#include "answers/parts.h"
#include "answers/verdict.h"
#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "model/code.h"
#include "model/identity.h"
#include "model/pairs.h"
#include "model/rubyframes.h"

/* Of reports in which nothing grew so many accuse a row: half of them one of the largest, half one of the others. */
static const double false_reports = 0.005; /* half of what is promised: 1 % */
enum { largest_rows = 10 };

static const struct jprof_range counted_only = { .error = NAN, .low = NAN, .high = NAN, .samples = NAN };

/* The work on one series. */
struct series_work {
	struct jprof_series *s;
	const struct jprof_profile *const *steps;
	const struct jprof_profile *whole; /* the only step, where there is one */
	size_t count;                      /* of steps */
	struct jp_moments moments;         /* the snapshots, one more than steps */
	struct jp_series_rows rows;
	double large_threshold, threshold;
	bool *collected; /* by snapshot: Ruby collected its garbage right before it */
};

static double seconds_of(const struct jprof_profile *step)
{
	int64_t first = (int64_t)step->base_mtime, last = jprof_profile_time(step);
	bool known = first && last > first && step->outside.now.processes;
	return known ? (double)(last - first) : NAN;
}

/* Whether what was subtracted is the newest of all, by more than the dumps of one snapshot are apart. */
static bool is_reversed(const struct jprof_profile *step)
{
	const int64_t apart = step->outside.now.processes > 1 ? 60 : 0; /* seconds */
	bool newest = step->base_mtime && step->base_mtime == step->mtime && step->outside.now.processes;
	return newest && step->first_mtime && (int64_t)step->base_mtime - (int64_t)step->first_mtime > apart;
}

/* ---- rows of the profile ------------------------------------------------------------------------------------ */

static struct jprof_change change_of(const struct series_work *w, const struct jp_row_course *course, size_t column)
{
	const struct jprof_profile *of = column < w->count ? w->steps[column] : w->whole;
	return (struct jprof_change){ .growth = course->evidence.value,
		                      .range = jp_evidence_range(&w->rows.lineages[column], &course->evidence,
		                                                 JPROF_INUSE_SPACE),
		                      .seconds = seconds_of(of) };
}

static int make_history(struct series_work *w, struct jprof_grown *row, double **values, struct jprof_change **steps)
{
	row->values = *values = jp_arena_alloc(&w->s->arena, (w->count + 1) * sizeof **values);
	row->steps = *steps = jp_arena_alloc(&w->s->arena, w->count * sizeof **steps);
	return *values && *steps ? 0 : -1;
}

static int fill_row(struct series_work *w, size_t id)
{
	struct jprof_grown *row = &w->s->rows[id];
	const struct jp_row_course *course = &w->rows.courses[id * w->rows.columns];
	struct jprof_change *steps;
	double *values;
	if (make_history(w, row, &values, &steps))
		return -1;
	for (size_t i = 0; i < w->count; i++) {
		steps[i] = change_of(w, &course[i], i);
		values[i] = course[i].base;
		values[i + 1] = course[i].base + course[i].evidence.value;
	}
	row->whole = change_of(w, &course[w->rows.columns - 1], w->rows.columns - 1);
	row->objects = course[w->rows.columns - 1].objects;
	row->distance = jp_change_distance(&row->whole);
	return 0;
}

/* Marks those rows that are judged by themselves: the largest at first. The largest at the end are those that grew by
 * chance. */
static void mark_largest(struct jprof_series *s)
{
	for (int n = 0; n < largest_rows; n++) {
		struct jprof_grown *best = NULL;
		for (size_t i = 0; i < s->count; i++)
			if (!s->rows[i].largest && (!best || s->rows[i].values[0] > best->values[0]))
				best = &s->rows[i];
		if (best)
			best->largest = true;
	}
}

static void judge_row(struct series_work *w, size_t id)
{
	struct jprof_grown *row = &w->s->rows[id];
	const struct jprof_series_info *info = &w->s->info;
	const struct jp_row_course *course = &w->rows.courses[(id + 1) * w->rows.columns - 1];
	double rate = w->rows.lineages[w->rows.columns - 1].rate, few = fmin((double)info->rows, largest_rows),
	       others = (double)info->rows - few;
	struct jp_course c = { .steps = row->steps,
		               .count = w->count,
		               .whole = row->whole,
		               .first = row->values[0],
		               .counted = isnan(row->whole.range.error),
		               .uncollected = info->ruby && !info->collected && course->managed > row->whole.growth / 2,
		               .collected = w->collected,
		               .threshold = row->largest ? w->large_threshold : w->threshold,
		               .rate = rate,
		               .shape = row->shape,
		               .shape_since = row->shape_since,
		               .kept = row->kept };
	row->verdict = jp_verdict_of(&c);
	row->one_buffer = jp_is_one_buffer(&c);
	row->chance = c.counted ? NAN : jp_chance_of(fabs(row->distance), row->largest ? few : others);
	double left = jp_samples_left(&row->whole), samples = row->whole.range.samples;
	double worth = samples > 0 ? row->whole.range.error / sqrt(samples) : 0;
	row->seen = fmax(jp_samples_seen_at(c.threshold, 0) * rate, jp_samples_seen_at(c.threshold, left) * worth);
}

/* ---- what lies outside -------------------------------------------------------------------------------------- */

/* Whether what the slots hold grew by less than a quarter of what the heap did. */
static bool only_room_grew(const struct series_work *w, const struct jprof_grown *row)
{
	static const double share = 0.25;
	double before = jprof_profile_figure(w->steps[0], true, JPROF_FIGURE_GC_LIVE),
	       now = jprof_profile_figure(w->steps[w->count - 1], false, JPROF_FIGURE_GC_LIVE);
	return row->part == JPROF_PART_GC_HEAP && now - before < share * row->whole.growth;
}

static const double least_growth = 1 << 20; /* bytes: a process that grew by less has not grown */
static const double least_waste = 0.05;     /* of all memory: what nobody keeps comes and goes, and leads only beyond */
static const double least_waste_share = 0.25; /* of the growth of all memory, likewise */

/* What no code of the program keeps: it comes and goes, or grows with what is profiled. */
static bool is_waste(enum jprof_part part)
{
	return part == JPROF_PART_KEPT || part == JPROF_PART_NOT_EXPLAINED || part == JPROF_PART_METADATA ||
	       part == JPROF_PART_PROFILER || part == JPROF_PART_GC_REST;
}

/* What is nobody's leak comes last in its verdict: what is paid for looking, and gaps between what others keep. */
static bool is_nobodys(const struct jprof_grown *row)
{
	return row->part == JPROF_PART_PROFILER || row->part == JPROF_PART_METADATA ||
	       row->part == JPROF_PART_FRAGMENTATION || row->part == JPROF_PART_GC_REST || row->of_gc_heap;
}

static void judge_outsider(const struct series_work *w, struct jprof_grown *row)
{
	bool waste = is_waste(row->part);
	bool heap = row->part == JPROF_PART_GC_HEAP || row->part == JPROF_PART_GC_REST ||
	            (row->part == JPROF_PART_PAST && w->s->info.ruby);
	bool of_malloc = row->part == JPROF_PART_FRAGMENTATION || row->part == JPROF_PART_LIVE;
	struct jp_course c = { .steps = row->steps,
		               .count = w->count,
		               .whole = row->whole,
		               .first = fabs(row->values[0]),
		               .counted = true,
		               .uncollected = !w->s->info.collected && (heap || (of_malloc && w->s->info.ruby)),
		               .collected = w->collected,
		               .idle = only_room_grew(w, row) };
	row->verdict = jp_verdict_of(&c);
	const double *total = w->s->info.total;
	double grown = total[1] - total[0], least = fmax(least_waste * total[0], least_waste_share * grown);
	if (waste && !(grown >= least_growth && row->whole.growth >= least))
		row->verdict = JPROF_MINOR_CHANGE; /* it only changed places */
	else if ((waste || is_nobodys(row)) && row->verdict == JPROF_LEAK_SUSPECT)
		row->verdict = JPROF_GROWING; /* nobody keeps it */
}

/* Adds a row of a part with these values, which live as long as the series, and its name; none where there is nothing
 * at all. `objects`: how many more there are, NAN. */
static int add_counted_row(struct series_work *w, enum jprof_part part, const char *name, const double *values,
                           double objects)
{
	struct jprof_series *s = w->s;
	struct jprof_change *steps = jp_arena_alloc(&s->arena, w->count * sizeof *steps);
	if (!steps || jp_array_push(s->rows, s->count, s->cap))
		return -1;
	bool any = values[0] != 0;
	for (size_t i = 0; i < w->count; i++) {
		steps[i] = (struct jprof_change){ values[i + 1] - values[i], counted_only, seconds_of(w->steps[i]) };
		any = any || values[i + 1] != 0;
	}
	if (!any)
		return 0;
	struct jprof_grown *row = &s->rows[s->count++];
	*row = (struct jprof_grown){ .part = part,
		                     .name = name,
		                     .values = values,
		                     .steps = steps,
		                     .objects = objects,
		                     .distance = NAN,
		                     .chance = NAN,
		                     .seen = NAN,
		                     .kind_share = NAN,
		                     .begun = NAN,
		                     .kept = NAN,
		                     .size = NAN };
	row->whole = (struct jprof_change){ values[w->count] - values[0], counted_only, seconds_of(w->whole) };
	judge_outsider(w, row);
	return 0;
}

static bool known_at_all(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isnan(values[i]))
			return false;
	return true;
}

/* False: at a moment the process had no jemalloc. */
static bool live_is_known(const struct series_work *w)
{
	for (size_t i = 0; i < w->moments.count; i++)
		if (isnan(jp_part_bytes(&w->moments, i, JPROF_PART_LIVE)))
			return false;
	return true;
}

/* Without any dump a row of live memory is a size, of which each object was counted. */
static int add_live_sizes(struct series_work *w)
{
	uint64_t sizes[jp_most_classes];
	bool known = w->s->info.counted && !w->s->info.referrers && live_is_known(w);
	size_t count = known ? jp_live_sizes(&w->moments, sizes) : 0, last = w->moments.count - 1;
	for (size_t k = 0; k < count; k++) {
		char name[64];
		double *values = jp_arena_alloc(&w->s->arena, w->moments.count * sizeof *values);
		int len = snprintf(name, sizeof name, "objects of %llu bytes", (unsigned long long)sizes[k]);
		const char *kept = jp_arena_dup(&w->s->arena, name, (size_t)len);
		if (!values || !kept)
			return -1;
		for (size_t i = 0; i <= last; i++)
			values[i] = jp_live_of_size(&w->moments, i, sizes[k]).live;
		double more = jp_live_of_size(&w->moments, last, sizes[k]).objects -
		              jp_live_of_size(&w->moments, 0, sizes[k]).objects;
		if (add_counted_row(w, JPROF_PART_LIVE, kept, values, more))
			return -1;
	}
	return 0;
}

/* Of a series with samples: in place of these what points to the blocks is asked for, and known at all moments. */
static bool pointers_are_asked(const struct series_work *w)
{
	const struct jp_referrer_sum *of[jp_most_pointing];
	return w->rows.opts->rows == JPROF_SERIES_REFERRERS && live_is_known(w) && jp_live_referrers(&w->moments, of);
}

/* Or what points to the blocks, where that was looked for. Of a kind without names it is the kind. */
static int add_live_referrers(struct series_work *w)
{
	const struct jp_referrer_sum *of[jp_most_pointing];
	bool asked = w->rows.opts->rows != JPROF_SERIES_SIZES && w->s->info.counted && live_is_known(w);
	size_t count = asked ? jp_live_referrers(&w->moments, of) : 0, last = w->moments.count - 1;
	w->s->info.referrers = count;
	for (size_t k = 0; k < count; k++) {
		char name[sizeof of[k]->name + 80];
		double *values = jp_arena_alloc(&w->s->arena, w->moments.count * sizeof *values);
		int len = snprintf(name, sizeof name, *of[k]->name ? "%s: %s" : "%s", of[k]->kind, of[k]->name);
		const char *kept = jp_arena_dup(&w->s->arena, name, (size_t)len);
		if (!values || !kept)
			return -1;
		for (size_t i = 0; i <= last; i++)
			values[i] = jp_live_of_referrer(&w->moments, i, of[k]).bytes;
		double more = jp_live_of_referrer(&w->moments, last, of[k]).blocks -
		              jp_live_of_referrer(&w->moments, 0, of[k]).blocks;
		if (add_counted_row(w, JPROF_PART_LIVE, kept, values, more))
			return -1;
	}
	return 0;
}

/* The parts that are known at all snapshots, and what they and live memory leave of RSS. Four have no row: Ruby's
 * transient heap and swapped memory come and go, and what was never touched, or is counted twice, is no memory. */
static int add_outsiders(struct series_work *w)
{
	static const enum jprof_part parts[] = {
		JPROF_PART_GC_HEAP,  JPROF_PART_GC_REST,   JPROF_PART_FRAGMENTATION, JPROF_PART_KEPT,
		JPROF_PART_METADATA, JPROF_PART_PROFILER,  JPROF_PART_PAST,          JPROF_PART_STACKS,
		JPROF_PART_FILES,    JPROF_PART_JIT,       JPROF_PART_SHMEM,         JPROF_PART_ANONYMOUS,
		JPROF_PART_V8,       JPROF_PART_UNTOUCHED, JPROF_PART_TRANSIENT,     JPROF_PART_SWAPPED,
		JPROF_PART_TWICE,
	};
	enum { all_parts = sizeof parts / sizeof *parts, with_rows = all_parts - 4 };
	size_t moments = w->moments.count;
	bool live = live_is_known(w) || !w->s->info.counted; /* else all that has no file is one row */
	double *rest = jp_arena_alloc(&w->s->arena, moments * sizeof *rest);
	for (size_t i = 0; rest && i < moments; i++)
		rest[i] = jprof_profile_figure(w->moments.at[i].profile, w->moments.at[i].base, JPROF_FIGURE_RSS) -
		          (live ? jp_part_bytes(&w->moments, i, JPROF_PART_LIVE) : 0);
	for (size_t k = 0; rest && k < all_parts; k++) {
		double *values = jp_arena_alloc(&w->s->arena, moments * sizeof *values);
		if (!values)
			return -1;
		for (size_t i = 0; i < moments; i++)
			values[i] = jp_part_bytes(&w->moments, i, parts[k]);
		if (!known_at_all(values, moments) || (live && parts[k] == JPROF_PART_ANONYMOUS))
			continue;
		for (size_t i = 0; i < moments && parts[k] != JPROF_PART_GC_REST; i++)
			rest[i] -= values[i];
		bool in_rows = w->s->info.slots && parts[k] == JPROF_PART_GC_HEAP; /* but for its rest */
		if (k < with_rows && !in_rows && add_counted_row(w, parts[k], "", values, NAN))
			return -1;
	}
	return !rest                         ? -1
	       : known_at_all(rest, moments) ? add_counted_row(w, JPROF_PART_NOT_EXPLAINED, "", rest, NAN)
	                                     : 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

/* Whether each process that a moment has ran a collection right before its dump. */
static bool is_collected(const struct jprof_profile *p, bool base)
{
	struct jprof_outside outside;
	jprof_profile_outside(p, base, &outside);
	return outside.processes && jprof_profile_figure(p, base, JPROF_FIGURE_GC_RUN) >= outside.processes;
}

static int keep_info_text(struct series_work *w, const char **to, const char *text)
{
	*to = jp_arena_dup(&w->s->arena, text, strlen(text));
	return *to ? 0 : -1;
}

/* Whose snapshots these are, and whether they can be compared. */
static int describe_processes_of(struct series_work *w)
{
	struct jprof_series_info *info = &w->s->info;
	struct jp_compared jp_cleanup(jp_compared_release) c;
	struct jp_code code = jp_code_of(w->whole);
	uint32_t program = jp_code_program(&code);
	if (jp_compared_of(w->whole, &c))
		return -1;
	for (size_t i = 0; i < c.count; i++) {
		info->workers += !strcmp(c.now[i].role, "worker");
		info->replaced += c.pairs[i].with != jp_alone && !c.pairs[i].same;
	}
	const char *started = jprof_profile_started_as(w->whole);
	w->rows.restarted = c.count && c.base_count && !jp_compared_any_same(&c);
	info->processes[0] = c.base_count;
	info->processes[1] = c.count;
	if (jp_find_main_scripts(w->s, w->whole))
		return -1;
	const char *path = program != JP_NONE ? jp_code_object(&code, program) : c.count ? c.now[0].program : "";
	info->same_program = jp_compared_one_program(&c) && !w->whole->nothing_common && !*info->scripts[0];
	return jp_find_outlier(w->s, &c) || keep_info_text(w, &info->title, jp_identity_title(w->whole)) ||
	       keep_info_text(w, &info->started, started ? started : "") || keep_info_text(w, &info->program, path);
}

static int describe_series(struct series_work *w)
{
	struct jprof_series_info *info = &w->s->info;
	struct jprof_grown *all = &w->s->all;
	struct jprof_change *steps;
	double *values;
	if (make_history(w, all, &values, &steps))
		return -1;
	w->collected = jp_arena_alloc(&w->s->arena, (w->count + 1) * sizeof *w->collected);
	if (!w->collected)
		return -1;
	info->collected = w->collected[0] = is_collected(w->steps[0], true);
	for (size_t i = 0; i < w->count; i++) {
		info->reversed = info->reversed || is_reversed(w->steps[i]);
		w->collected[i + 1] = is_collected(w->steps[i], false);
		info->collected = info->collected && w->collected[i + 1];
		steps[i] = (struct jprof_change){ .growth = jprof_profile_total(w->steps[i], JPROF_INUSE_SPACE),
			                          .seconds = seconds_of(w->steps[i]) };
		jprof_profile_range(w->steps[i], JPROF_INUSE_SPACE, &steps[i].range);
	}
	all->whole = (struct jprof_change){ .growth = jprof_profile_total(w->whole, JPROF_INUSE_SPACE),
		                            .seconds = seconds_of(w->whole) };
	jprof_profile_range(w->whole, JPROF_INUSE_SPACE, &all->whole.range);
	info->collected = info->collected || w->rows.opts->collected;
	info->ages = jp_has_ages_of_both(w->whole);
	info->snapshots = w->count + 1;
	info->seconds = all->whole.seconds;
	info->counted = jp_live_is_counted(&w->moments) || pointers_are_asked(w);
	info->slots = w->whole->info.has_slots && !info->counted;
	info->ruby = jp_has_ruby_inside(w->whole) || (info->counted && *w->whole->outside.now.figures.settings.ruby);
	info->related = w->whole->lineage.shared_sum;
	info->bound = *jprof_profile_bound(w->whole, JPROF_INUSE_SPACE);
	info->total[0] = jp_part_bytes(&w->moments, 0, JPROF_PART_TOTAL);
	info->total[1] = jp_part_bytes(&w->moments, w->count, JPROF_PART_TOTAL);
	double *memory = jp_arena_alloc(&w->s->arena, (w->count + 1) * sizeof *memory);
	for (size_t i = 0; memory && i <= w->count; i++)
		memory[i] = jp_part_bytes(&w->moments, i, JPROF_PART_TOTAL);
	info->memory = memory;
	jprof_profile_group(w->whole, &info->group);
	const struct jprof_group *before = &w->whole->outside.base.figures.group;
	info->group_growth = info->group.known && before->known ? info->group.current - before->current : NAN;
	all->name = "";
	return memory ? describe_processes_of(w) : -1;
}

static void judge_all(struct series_work *w)
{
	struct jprof_grown *all = &w->s->all;
	struct jp_course c = { .steps = all->steps,
		               .count = w->count,
		               .whole = all->whole,
		               .first = all->values[0],
		               .counted = isnan(all->whole.range.error),
		               .threshold = jp_chance_threshold(false_reports, 1) };
	all->verdict = jp_verdict_of(&c);
	all->distance = jp_change_distance(&all->whole);
	all->chance = c.counted ? NAN : jp_chance_of(fabs(all->distance), 1);
	all->objects = all->begun = all->kept = all->size = NAN;
	all->seen = w->s->info.seen;
}

/* Likewise without any dump: as it was counted. */
static void sum_counted(struct series_work *w)
{
	struct jprof_grown *all = &w->s->all;
	double *values = (double *)all->values;
	struct jprof_change *steps = (struct jprof_change *)all->steps;
	for (size_t i = 0; i <= w->count; i++)
		values[i] = jp_part_bytes(&w->moments, i, JPROF_PART_LIVE);
	for (size_t i = 0; i < w->count; i++)
		steps[i] = (struct jprof_change){ values[i + 1] - values[i], counted_only, steps[i].seconds };
	all->whole = (struct jprof_change){ values[w->count] - values[0], counted_only, all->whole.seconds };
}

/* What malloc had given at each snapshot, filtered or not. */
static void sum_values(struct series_work *w)
{
	double *values = (double *)w->s->all.values;
	if (w->s->info.counted) {
		sum_counted(w);
		return;
	}
	values[0] = w->rows.base;
	for (size_t i = 0; i < w->count; i++)
		values[i + 1] = values[i] + w->s->all.steps[i].growth;
}

/* The growth that is there for sure. What jemalloc keeps comes and goes by itself: half of it. */
static double sure_growth(const struct jprof_grown *row)
{
	if (!isnan(row->whole.range.low))
		return row->whole.range.low;
	return row->part == JPROF_PART_KEPT ? row->whole.growth / 2 : row->whole.growth;
}

static int compare_grown(const void *a, const void *b)
{
	const struct jprof_grown *x = a, *y = b;
	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (is_nobodys(x) != is_nobodys(y))
		return is_nobodys(x) ? 1 : -1;
	double m = sure_growth(x), n = sure_growth(y);
	if (m != n)
		return m > n ? -1 : 1;
	int order = strcmp(x->name, y->name);
	return order ? order : (int)x->part - (int)y->part;
}

static void choose_thresholds(struct series_work *w)
{
	struct jprof_series_info *info = &w->s->info;
	double rows = (double)w->s->count, few = fmin(rows, largest_rows);
	info->rows = w->s->count;
	w->large_threshold = jp_chance_threshold(false_reports / 2, few);
	w->threshold = jp_chance_threshold(false_reports / 2, rows - few);
	info->rate = w->rows.lineages[w->rows.columns - 1].rate;
	info->seen = jp_samples_seen_at(w->threshold, 0) * info->rate;
}

/* Tables of Ruby's garbage collector belong to its heap, where that is known: they grow with it, and nobody leaks them.
 */
static void join_gc_tables(struct jprof_series *s)
{
	static const char tables[] = ": GC bookkeeping";
	static const double most = 0.5;
	bool heap = false;
	for (size_t i = 0; i < s->count; i++)
		heap = heap || s->rows[i].part == JPROF_PART_GC_HEAP || s->rows[i].part == JPROF_PART_GC_REST;
	for (size_t i = 0; heap && i < s->count; i++) {
		struct jprof_grown *row = &s->rows[i];
		size_t len = row->kind ? strlen(row->kind) : 0;
		bool bookkeeping = len >= sizeof tables - 1 && row->kind_share > most &&
		                   !strcmp(row->kind + len - (sizeof tables - 1), tables);
		row->of_gc_heap = bookkeeping || !strcmp(row->name, JP_COLLECTOR);
		if (row->of_gc_heap && row->verdict == JPROF_LEAK_SUSPECT)
			row->verdict = JPROF_GROWING;
	}
}

static int add_all_rows(struct series_work *w, struct jprof_error *err)
{
	bool sampled = !pointers_are_asked(w);
	int rc = sampled ? jp_series_add(&w->rows, w->whole, w->rows.columns - 1, true, err) : 0;
	for (size_t i = 0; !rc && sampled && w->count > 1 && i < w->count; i++)
		rc = jp_series_add(&w->rows, w->steps[i], i, false, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < w->s->count; i++)
		if (fill_row(w, i))
			return jp_error_nomem(err);
	sum_values(w);
	mark_largest(w->s);
	choose_thresholds(w);
	for (size_t i = 0; i < w->s->count; i++)
		judge_row(w, i);
	judge_all(w);
	if (add_live_referrers(w) || add_live_sizes(w) || add_outsiders(w) || jp_series_count_objects(w->s, w->whole))
		return jp_error_nomem(err);
	join_gc_tables(w->s);
	return 0;
}

/* What the first step was subtracted from, and what each has. */
static int list_moments(struct series_work *w)
{
	struct jp_moment *at = jp_arena_alloc(&w->s->arena, (w->count + 1) * sizeof *at);
	if (!at)
		return -1;
	at[0] = (struct jp_moment){ w->steps[0], true };
	for (size_t i = 0; i < w->count; i++)
		at[i + 1] = (struct jp_moment){ w->steps[i], false };
	w->moments = jp_moments_of(at, w->count + 1);
	return 0;
}

static int make_series(struct series_work *w, const struct jprof_series_opts *opts, struct jprof_error *err)
{
	w->rows.opts = opts;
	w->rows.series = w->s;
	w->rows.columns = w->count > 1 ? w->count + 1 : 1;
	w->rows.lineages = calloc(w->rows.columns, sizeof *w->rows.lineages);
	int rc = opts->view ? jp_opts_take(&w->rows.view, sizeof w->rows.view, opts->view, err) : 0;
	w->rows.view.size = sizeof w->rows.view;
	w->rows.view.counter = JPROF_INUSE_SPACE;
	w->rows.view.errors = true;
	if (!rc && (!w->rows.lineages || list_moments(w) || describe_series(w)))
		rc = jp_error_nomem(err);
	rc = rc ? rc : add_all_rows(w, err);
	if (!rc && w->s->count)
		qsort(w->s->rows, w->s->count, sizeof *w->s->rows, compare_grown);
	jp_series_rows_release(&w->rows);
	return rc;
}

int jprof_series_new(const struct jprof_profile *const *steps, size_t count, const struct jprof_profile *whole,
                     const struct jprof_series_opts *given, struct jprof_series **series, struct jprof_error *err)
{
	if (jp_null(err, steps, series))
		return JPROF_E_ARGUMENT;
	struct jprof_series_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	bool good = count > 0 && (whole || count == 1) && (!whole || whole->lineage.subtracted);
	for (size_t i = 0; good && i < count; i++)
		good = steps[i] && steps[i]->lineage.subtracted;
	if (!rc && !good)
		rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		              "a series is made of differences: call jprof_profile_difference before");
	if (rc)
		return rc;
	struct series_work w = {
		.s = calloc(1, sizeof *w.s), .steps = steps, .count = count, .whole = count > 1 ? whole : steps[0]
	};
	rc = w.s ? make_series(&w, &opts, err) : jp_error_nomem(err);
	if (rc)
		jprof_series_free(w.s);
	else
		*series = w.s;
	return rc;
}

const struct jprof_series_info *jprof_series_info(const struct jprof_series *series)
{
	return series ? &series->info : NULL;
}

size_t jprof_series_count(const struct jprof_series *series)
{
	return series ? series->count : 0;
}

const struct jprof_grown *jprof_series_at(const struct jprof_series *series, size_t i)
{
	return series && i < series->count ? &series->rows[i] : NULL;
}

const struct jprof_grown *jprof_series_malloc(const struct jprof_series *series)
{
	return series ? &series->all : NULL;
}

void jprof_series_free(struct jprof_series *series)
{
	if (!series)
		return;
	jp_arena_release(&series->arena);
	free(series->rows);
	free(series->objects);
	free(series);
}
