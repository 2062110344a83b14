/* Where the memory of processes is: rows that add up, by what is known of both snapshots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/advice.h"
#include "answers/explanation.h"
#include "answers/gcheap.h"
#include "answers/owners.h"
#include "answers/parts.h"
#include "answers/pointedto.h"
#include "answers/sizeclass.h"
#include "base/error.h"
#include "base/opts.h"
#include "model/identity.h"
#include "model/profile.h"
#include "ops/ranges.h"

static const struct jprof_range no_range = { .error = NAN, .low = NAN, .high = NAN, .samples = NAN };

/* ---- figures ---------------------------------------------------------------------------------------------- */

/* The snapshots that are explained. `change` may be NULL. */
struct sides {
	const struct jprof_profile *now, *change;
	struct jp_moment at[2];
	struct jp_moments moments; /* what there was before, if it is known, and what there is now */
	struct jp_owner_views views;
	bool by_referrer, unreachable;
};

static void compare_sides(struct sides *s)
{
	size_t count = 0;
	if (s->change)
		s->at[count++] = (struct jp_moment){ s->change, true };
	s->at[count++] = (struct jp_moment){ s->now, false };
	s->moments = jp_moments_of(s->at, count);
}

static struct jp_figure_pair figures_of_part(const struct sides *s, enum jprof_part part)
{
	double now = jp_part_bytes(&s->moments, s->moments.count - 1, part);
	return (struct jp_figure_pair){ now, s->change ? now - jp_part_bytes(&s->moments, 0, part) : NAN };
}

static struct jp_figure_pair minus(struct jp_figure_pair a, struct jp_figure_pair b)
{
	return (struct jp_figure_pair){ a.now - b.now, a.growth - b.growth };
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* No row where nothing is known, or there is none on either side. */
static int add_counted(struct jprof_explanation *e, enum jprof_part part, unsigned depth, struct jp_figure_pair f)
{
	bool nothing = isnan(f.now) || (f.now == 0 && (f.growth == 0 || isnan(f.growth)));
	return nothing || jp_explain_row(e, part, depth, f) ? 0 : -1;
}

struct part_depth {
	enum jprof_part part;
	unsigned depth;
};

static int add_parts(struct jprof_explanation *e, const struct sides *s, const struct part_depth *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (add_counted(e, rows[i].part, rows[i].depth, figures_of_part(s, rows[i].part)))
			return -1;
	return 0;
}

/* Objects in Ruby's own heap are counted, and have rows there. */
static double sampled_by_malloc(const struct jprof_profile *p)
{
	return jprof_profile_heap_total(p, JPROF_HEAP_MALLOC, JPROF_INUSE_SPACE, false);
}

/* Live memory by jemalloc's count; of a dump without that by the samples. */
static int add_live(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	struct jp_figure_pair live = figures_of_part(s, JPROF_PART_LIVE);
	struct jp_figure_pair sampled = { sampled_by_malloc(s->now), s->change ? sampled_by_malloc(s->change) : NAN };
	bool counted = !isnan(live.now);
	size_t at = e->count;
	struct jprof_explained *row = jp_explain_row(e, JPROF_PART_LIVE, 0, counted ? live : sampled);
	if (!row)
		return jp_error_nomem(err);
	if (!counted)
		jp_profile_range(s->now, JPROF_HEAP_MALLOC, JPROF_INUSE_SPACE, NULL, &row->range);
	if (!counted && s->change)
		jp_profile_range(s->change, JPROF_HEAP_MALLOC, JPROF_INUSE_SPACE, NULL, &row->growth_range);
	int rc = jp_explain_owners(e, &s->views, err);
	if (rc || !counted || e->count == at + 1)
		return rc;
	struct jp_figure_pair internal = figures_of_part(s, JPROF_PART_INTERNAL_LIVE), rest = minus(live, sampled);
	if (!isnan(internal.now))
		rest = minus(rest, internal);
	return add_counted(e, JPROF_PART_INTERNAL_LIVE, 1, internal) || add_counted(e, JPROF_PART_NOT_SAMPLED, 1, rest)
	           ? jp_error_nomem(err)
	           : 0;
}

/* Of processes whose memory was read, where they have no dump, or that was asked for: each object is counted, and has
 * no owner. */
static int add_live_counted(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	bool added = jp_explain_row(e, JPROF_PART_LIVE, 0, figures_of_part(s, JPROF_PART_LIVE));
	int rc = !added ? -1 : s->by_referrer ? jp_explain_referrers(e, s->now, s->change) : 0;
	if (!rc)
		rc = jp_explain_live_sizes(e, s->now, s->change);
	return rc < 0 ? jp_error_nomem(err) : 0;
}

static int add_gc_heap(struct jprof_explanation *e, const struct sides *s)
{
	static const struct part_depth heap[] = { { JPROF_PART_GC_HEAP, 0 },
		                                  { JPROF_PART_GC_OBJECTS, 1 },
		                                  { JPROF_PART_GC_FREE, 1 } };
	static const struct part_depth young[] = { { JPROF_PART_TRANSIENT, 0 } };
	return add_parts(e, s, heap, sizeof heap / sizeof *heap) || jp_explain_objects(e, s->now, s->change) ||
	       add_parts(e, s, young, sizeof young / sizeof *young);
}

static int add_fragmentation(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	size_t before = e->count;
	if (add_counted(e, JPROF_PART_FRAGMENTATION, 0, figures_of_part(s, JPROF_PART_FRAGMENTATION)))
		return jp_error_nomem(err);
	if (e->count == before)
		return 0;
	if (add_counted(e, JPROF_PART_PADDING, 1, figures_of_part(s, JPROF_PART_PADDING)))
		return jp_error_nomem(err);
	return jp_explain_size_classes(e, s->now, s->change, s->views.place, err);
}

static int add_overhead(struct jprof_explanation *e, const struct sides *s)
{
	static const struct part_depth rows[] = {
		{ JPROF_PART_KEPT, 0 },     { JPROF_PART_DIRTY, 1 },        { JPROF_PART_MUZZY, 1 },
		{ JPROF_PART_CACHED, 1 },   { JPROF_PART_METADATA, 0 },     { JPROF_PART_INTERNAL, 1 },
		{ JPROF_PART_PROFILER, 0 }, { JPROF_PART_SAMPLE_PAGES, 1 }, { JPROF_PART_TABLES, 1 },
		{ JPROF_PART_V8, 0 },       { JPROF_PART_PAST, 0 },
	};
	return add_parts(e, s, rows, sizeof rows / sizeof *rows);
}

static int add_mapped(struct jprof_explanation *e, const struct sides *s)
{
	static const struct part_depth rows[] = {
		{ JPROF_PART_STACKS, 0 },    { JPROF_PART_FILES, 0 },   { JPROF_PART_JIT, 0 },
		{ JPROF_PART_SHMEM, 0 },     { JPROF_PART_SWAPPED, 0 }, { JPROF_PART_TWICE, 0 },
		{ JPROF_PART_UNTOUCHED, 0 },
	};
	return add_parts(e, s, rows, sizeof rows / sizeof *rows);
}

/* What the parts have together. A part whose growth is not known leaves it out of the sum: what is known adds up. */
static struct jp_figure_pair sum_of_parts(const struct jprof_explanation *e)
{
	struct jp_figure_pair sum = { 0, 0 };
	for (size_t i = 0; i < e->count; i++)
		if (!e->rows[i].depth) {
			sum.now += e->rows[i].bytes;
			sum.growth += isnan(e->rows[i].growth) ? 0 : e->rows[i].growth;
		}
	return sum;
}

static int add_rest_and_total(struct jprof_explanation *e, const struct sides *s)
{
	double now = jprof_profile_figure(s->now, false, JPROF_FIGURE_RSS);
	double before = s->change ? jprof_profile_figure(s->change, true, JPROF_FIGURE_RSS) : NAN;
	struct jp_figure_pair rss = { now, now - before }, total = figures_of_part(s, JPROF_PART_TOTAL);
	e->info.total = total.now;
	e->info.growth = total.growth;
	if (isnan(rss.now))
		return 0;
	if (add_counted(e, JPROF_PART_NOT_EXPLAINED, 0, minus(rss, sum_of_parts(e))))
		return -1;
	return add_counted(e, JPROF_PART_SHARED, 0, minus(total, rss)) || add_counted(e, JPROF_PART_TOTAL, 0, total);
}

/* What /proc says of processes that gave no dump: what has no file is malloc's and others', and nobody can tell, but
 * for what Ruby has beside it. */
static int add_rows_of_proc(struct jprof_explanation *e, const struct sides *s)
{
	static const struct part_depth anonymous = { JPROF_PART_ANONYMOUS, 0 }, v8 = { JPROF_PART_V8, 0 };
	bool heap_known = !isnan(figures_of_part(s, JPROF_PART_GC_HEAP).now);
	if (add_parts(e, s, &anonymous, 1) || (s->by_referrer && jp_explain_referrers(e, s->now, s->change) < 0))
		return -1;
	return add_parts(e, s, &v8, 1) || (heap_known && add_gc_heap(e, s)) || add_mapped(e, s) ||
	       add_rest_and_total(e, s) || (*e->info.seen.malloc && jp_explain_helps(e, s->now));
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* What processes have in common since a fork. */
static void describe_sharing(struct jprof_explain_info *info, const struct sides *s)
{
	const struct jp_figures *f = &s->now->outside.now.figures;
	info->shared = jprof_profile_figure(s->now, false, JPROF_FIGURE_SHARED);
	info->workers = f->worker_shared.of;
	info->before_fork = f->master.of == 1 ? f->master.bytes : NAN;
	info->still_shared = info->workers ? f->worker_shared.bytes / info->workers : NAN;
}

static int describe_processes(struct jprof_explanation *e, const struct sides *s)
{
	const char *title = jp_identity_title(s->now);
	struct jprof_outside outside;
	struct jprof_range range = no_range;
	struct jprof_explain_info *info = &e->info;
	jprof_profile_outside(s->now, false, &outside);
	info->processes = outside.processes;
	info->dumpless = !*s->now->info.format;
	info->total = info->growth = info->seconds = info->group_growth = NAN;
	describe_sharing(info, s);
	jprof_profile_settings(s->now, &info->settings);
	jprof_profile_group(s->now, &info->group);
	if (s->change) {
		const struct jprof_group *before = &s->change->outside.base.figures.group;
		jp_profile_range(s->change, JPROF_HEAP_MALLOC, JPROF_INUSE_SPACE, NULL, &range);
		info->group_growth = before->known ? info->group.current - before->current : NAN;
		int64_t first = (int64_t)s->change->base_mtime, last = jprof_profile_time(s->now);
		info->seconds = first && last > first ? (double)(last - first) : NAN;
	}
	info->error = (range.high - range.low) / 2;
	info->ruby = jp_has_ruby_inside(s->now);
	info->seen = s->now->outside.now.figures.seen;
	info->referrers = s->now->outside.now.figures.referrers.count;
	info->roots = s->now->outside.now.figures.roots;
	info->title = jp_arena_dup(&e->arena, title, strlen(title));
	return info->title ? 0 : -1;
}

static int make_rows(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	if (describe_processes(e, s))
		return jp_error_nomem(err);
	if (e->info.dumpless && isnan(figures_of_part(s, JPROF_PART_LIVE).now))
		return add_rows_of_proc(e, s) ? jp_error_nomem(err) : 0;
	bool asked = s->by_referrer && e->info.referrers;
	int rc = e->info.dumpless || asked ? add_live_counted(e, s, err) : add_live(e, s, err);
	if (!rc && (jp_explain_unreachable(e, s->now, s->unreachable) || add_gc_heap(e, s)))
		rc = jp_error_nomem(err);
	if (!rc)
		rc = add_fragmentation(e, s, err);
	if (!rc && (add_overhead(e, s) || add_mapped(e, s) || add_rest_and_total(e, s) || jp_explain_helps(e, s->now)))
		rc = jp_error_nomem(err);
	return rc;
}

int jprof_explain_new(const struct jprof_profile *profile, const struct jprof_profile *change,
                      const struct jprof_explain_opts *given, struct jprof_explanation **explanation,
                      struct jprof_error *err)
{
	if (jp_null(err, profile, explanation))
		return JPROF_E_ARGUMENT;
	struct jprof_explain_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if (change && !change->lineage.subtracted)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "the change is no difference: call jprof_profile_difference before");
	struct jprof_explanation *e = calloc(1, sizeof *e);
	if (!e)
		return jp_error_nomem(err);
	struct sides sides = {
		.now = profile, .change = change, .by_referrer = opts.by_referrer, .unreachable = opts.unreachable
	};
	compare_sides(&sides);
	rc = jp_owner_views_make(&sides.views, profile, change, &opts, err);
	if (!rc)
		rc = make_rows(e, &sides, err);
	jp_owner_views_release(&sides.views);
	if (rc)
		jprof_explain_free(e);
	else
		*explanation = e;
	return rc;
}
