/* Where the memory of processes is: rows that add up, by what is known of both snapshots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/advice.h"
#include "answers/explanation.h"
#include "answers/gcheap.h"
#include "answers/owners.h"
#include "answers/sizeclass.h"
#include "base/error.h"
#include "base/opts.h"
#include "model/profile.h"

static const struct jprof_range no_range = { .error = NAN, .low = NAN, .high = NAN, .samples = NAN };

/* ---- figures ---------------------------------------------------------------------------------------------- */

/* What there is of a figure on both sides. `change` may be NULL. */
struct sides {
	const struct jprof_profile *now, *change;
	struct jp_owner_views views;
};

static struct jp_figure_pair figure(const struct sides *s, enum jprof_figure f)
{
	double now = jprof_profile_figure(s->now, false, f);
	return (struct jp_figure_pair){ now, s->change ? now - jprof_profile_figure(s->change, true, f) : NAN };
}

static struct jp_figure_pair sum_of_two(struct jp_figure_pair a, struct jp_figure_pair b)
{
	return (struct jp_figure_pair){ a.now + b.now, a.growth + b.growth };
}

static struct jp_figure_pair minus(struct jp_figure_pair a, struct jp_figure_pair b)
{
	return (struct jp_figure_pair){ a.now - b.now, a.growth - b.growth };
}

static struct jp_figure_pair or_zero(struct jp_figure_pair a)
{
	return (struct jp_figure_pair){ isnan(a.now) ? 0 : a.now, isnan(a.growth) && isnan(a.now) ? 0 : a.growth };
}

/* How much sampled small objects take: jemalloc gives each at least 16 KiB (SC_LARGE_MINCLASS) and counts that as
 * allocated, beside what they hold. */
static struct jp_figure_pair counted_for_samples(const struct sides *s)
{
	struct jp_figure_pair objects = figure(s, JPROF_FIGURE_SAMPLED);
	objects.now *= jp_sampled_extent;
	objects.growth *= jp_sampled_extent;
	return minus(objects, figure(s, JPROF_FIGURE_SAMPLED_SPACE));
}

static double page_size_of(const struct sides *s)
{
	return jprof_profile_figure(s->now, false, JPROF_FIGURE_PAGE) / (double)s->now->outside.now.processes;
}

/* What of that is touched, and so memory: an object begins anywhere in its first page, so that its pages have one page
 * more than it, as a mean. */
static struct jp_figure_pair touched_by_samples(const struct sides *s)
{
	double page = page_size_of(s);
	struct jp_figure_pair objects = figure(s, JPROF_FIGURE_SAMPLED);
	return (struct jp_figure_pair){ objects.now * page, objects.growth * page };
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* Nothing is known, or there is none on either side. */
static bool is_nothing(struct jp_figure_pair f)
{
	return isnan(f.now) || (f.now == 0 && (f.growth == 0 || isnan(f.growth)));
}

static int add_counted(struct jprof_explanation *e, enum jprof_part part, unsigned depth, struct jp_figure_pair f)
{
	return is_nothing(f) || jp_explain_row(e, part, depth, f) ? 0 : -1;
}

/* Live memory by jemalloc's count; of a dump without that by the samples. */
static int add_live(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	struct jp_figure_pair live =
	    minus(minus(figure(s, JPROF_FIGURE_ALLOCATED), counted_for_samples(s)), figure(s, JPROF_FIGURE_CACHED));
	struct jp_figure_pair sampled = { jprof_profile_total(s->now, JPROF_INUSE_SPACE),
		                          s->change ? jprof_profile_total(s->change, JPROF_INUSE_SPACE) : NAN };
	bool counted = !isnan(live.now);
	size_t at = e->count;
	struct jprof_explained *row = jp_explain_row(e, JPROF_PART_LIVE, 0, counted ? live : sampled);
	if (!row)
		return jp_error_nomem(err);
	if (!counted)
		jprof_profile_range(s->now, JPROF_INUSE_SPACE, &row->range);
	if (!counted && s->change)
		jprof_profile_range(s->change, JPROF_INUSE_SPACE, &row->growth_range);
	int rc = jp_explain_owners(e, &s->views, err);
	if (!rc && counted && e->count > at + 1 && add_counted(e, JPROF_PART_NOT_SAMPLED, 1, minus(live, sampled)))
		rc = jp_error_nomem(err);
	return rc;
}

/* Where slots have several sizes GC.stat does not say how many bytes are free, and counting the objects does. */
static struct jp_figure_pair free_slots(const struct sides *s, struct jp_figure_pair heap)
{
	struct jp_figure_pair known = figure(s, JPROF_FIGURE_GC_FREE);
	double now = jp_counted_slots(s->now, false), before = s->change ? jp_counted_slots(s->change, true) : NAN;
	return isnan(known.now) ? minus(heap, (struct jp_figure_pair){ now, now - before }) : known;
}

static int add_gc_heap(struct jprof_explanation *e, const struct sides *s)
{
	struct jp_figure_pair heap = figure(s, JPROF_FIGURE_GC_HEAP), unused = free_slots(s, heap);
	return add_counted(e, JPROF_PART_GC_HEAP, 0, heap) ||
	       add_counted(e, JPROF_PART_GC_OBJECTS, 1, minus(heap, unused)) ||
	       add_counted(e, JPROF_PART_GC_FREE, 1, unused) || jp_explain_objects(e, s->now, s->change) ||
	       add_counted(e, JPROF_PART_TRANSIENT, 0, figure(s, JPROF_FIGURE_TRANSIENT));
}

static int add_fragmentation(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	struct jp_figure_pair gaps = minus(minus(figure(s, JPROF_FIGURE_ACTIVE), figure(s, JPROF_FIGURE_ALLOCATED)),
	                                   figure(s, JPROF_FIGURE_PADDING));
	if (add_counted(e, JPROF_PART_FRAGMENTATION, 0, gaps))
		return jp_error_nomem(err);
	return is_nothing(gaps) ? 0 : jp_explain_size_classes(e, s->now, s->change, s->views.place, err);
}

/* What is in memory of jemalloc's mappings, by the kernel, less what is in use of it, by jemalloc; NAN where the
 * mappings are not known: they must have the space that jemalloc counts. */
static double room_for_freed(const struct jprof_profile *p, bool base, double page)
{
	double space = jprof_profile_figure(p, base, JPROF_FIGURE_SPACE);
	double mapped_space = jprof_profile_figure(p, base, JPROF_FIGURE_MAPPED_SPACE);
	double tables = jprof_profile_figure(p, base, JPROF_FIGURE_TABLES);
	double sampled = jprof_profile_figure(p, base, JPROF_FIGURE_SAMPLED);
	double extents = sampled * jp_sampled_extent + jprof_profile_figure(p, base, JPROF_FIGURE_PADDING);
	double in_use = jprof_profile_figure(p, base, JPROF_FIGURE_ACTIVE) - extents +
	                jprof_profile_figure(p, base, JPROF_FIGURE_SAMPLED_SPACE) + sampled * page +
	                jprof_profile_figure(p, base, JPROF_FIGURE_METADATA);
	if (!(space > 0) || !(mapped_space >= space))
		return NAN;
	return jprof_profile_figure(p, base, JPROF_FIGURE_MAPPED) - (isnan(tables) ? 0 : tables) - in_use;
}

static struct jp_figure_pair pair_of_rooms(const struct sides *s)
{
	double now = room_for_freed(s->now, false, page_size_of(s));
	double before = s->change ? room_for_freed(s->change, true, page_size_of(s)) : 0;
	if (isnan(now) || isnan(before))
		return (struct jp_figure_pair){ NAN, NAN };
	return (struct jp_figure_pair){ now, s->change ? now - before : NAN };
}

static double within_limits(double least, double value, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* Freed pages that are in memory: no more than jemalloc counts, nor than its mappings have beside what is in use. Those
 * of a freed sample are five, of which one was touched. */
static struct jp_figure_pair dirty_in_memory(const struct sides *s, struct jp_figure_pair room)
{
	struct jp_figure_pair dirty = figure(s, JPROF_FIGURE_DIRTY);
	if (isnan(room.now) || isnan(dirty.now))
		return dirty;
	double now = within_limits(0, room.now, dirty.now);
	return (struct jp_figure_pair){ now, now - within_limits(0, room.now - room.growth, dirty.now - dirty.growth) };
}

static int add_freed_parts(struct jprof_explanation *e, const struct sides *s, struct jp_figure_pair room)
{
	struct jp_figure_pair dirty = dirty_in_memory(s, room), muzzy = figure(s, JPROF_FIGURE_MUZZY),
			      cached = figure(s, JPROF_FIGURE_CACHED);
	return add_counted(e, JPROF_PART_KEPT, 0, sum_of_two(sum_of_two(dirty, muzzy), cached)) ||
	       add_counted(e, JPROF_PART_DIRTY, 1, dirty) || add_counted(e, JPROF_PART_MUZZY, 1, muzzy) ||
	       add_counted(e, JPROF_PART_CACHED, 1, cached);
}

/* What is in use by jemalloc's count, and not in memory by the kernel's: a large calloc, tables of jemalloc's own. */
static int add_untouched(struct jprof_explanation *e, struct jp_figure_pair room)
{
	double now = within_limits(-INFINITY, room.now, 0),
	       before = within_limits(-INFINITY, room.now - room.growth, 0);
	struct jp_figure_pair untouched = { now, isnan(room.growth) ? NAN : now - before };
	return isnan(room.now) ? 0 : add_counted(e, JPROF_PART_UNTOUCHED, 0, untouched);
}

static int add_overhead(struct jprof_explanation *e, const struct sides *s)
{
	struct jp_figure_pair pages = touched_by_samples(s), tables = or_zero(figure(s, JPROF_FIGURE_TABLES));
	return add_counted(e, JPROF_PART_METADATA, 0, figure(s, JPROF_FIGURE_METADATA)) ||
	       add_counted(e, JPROF_PART_INTERNAL, 1, figure(s, JPROF_FIGURE_INTERNAL)) ||
	       add_counted(e, JPROF_PART_PROFILER, 0, sum_of_two(pages, tables)) ||
	       add_counted(e, JPROF_PART_SAMPLE_PAGES, 1, pages) || add_counted(e, JPROF_PART_TABLES, 1, tables);
}

/* Of a Ruby that did not say how large its GC heap is, that is in it; of all others what the program mapped itself. */
static int add_past(struct jprof_explanation *e, const struct sides *s, struct jp_figure_pair room)
{
	bool known = !isnan(figure(s, JPROF_FIGURE_GC_HEAP).now);
	return known || isnan(room.now) ? 0 : add_counted(e, JPROF_PART_PAST, 0, figure(s, JPROF_FIGURE_PAST));
}

static int add_mapped(struct jprof_explanation *e, const struct sides *s)
{
	struct jp_figure_pair swap = figure(s, JPROF_FIGURE_SWAP);
	return add_counted(e, JPROF_PART_STACKS, 0, figure(s, JPROF_FIGURE_STACKS)) ||
	       add_counted(e, JPROF_PART_FILES, 0,
	                   sum_of_two(figure(s, JPROF_FIGURE_RSS_FILE), or_zero(figure(s, JPROF_FIGURE_COPIES)))) ||
	       add_counted(e, JPROF_PART_JIT, 0, figure(s, JPROF_FIGURE_JIT)) ||
	       add_counted(e, JPROF_PART_SHMEM, 0, figure(s, JPROF_FIGURE_RSS_SHMEM)) ||
	       add_counted(e, JPROF_PART_SWAPPED, 0, (struct jp_figure_pair){ -swap.now, -swap.growth });
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
	struct jp_figure_pair rss = figure(s, JPROF_FIGURE_RSS), pss = figure(s, JPROF_FIGURE_PSS);
	bool several = e->info.processes > 1 && !isnan(pss.now);
	struct jp_figure_pair total = several ? pss : rss;
	e->info.total = total.now;
	e->info.growth = total.growth;
	if (isnan(rss.now))
		return 0;
	if (add_counted(e, JPROF_PART_NOT_EXPLAINED, 0, minus(rss, sum_of_parts(e))))
		return -1;
	if (several && add_counted(e, JPROF_PART_SHARED, 0, minus(pss, rss)))
		return -1;
	return add_counted(e, JPROF_PART_TOTAL, 0, total);
}

/* What /proc says of processes that gave no dump: what has no file is malloc's and others', and nobody can tell. */
static int add_rows_of_proc(struct jprof_explanation *e, const struct sides *s)
{
	struct jp_figure_pair known =
	    sum_of_two(sum_of_two(or_zero(figure(s, JPROF_FIGURE_STACKS)), or_zero(figure(s, JPROF_FIGURE_JIT))),
	               or_zero(figure(s, JPROF_FIGURE_COPIES)));
	return add_counted(e, JPROF_PART_ANONYMOUS, 0, minus(figure(s, JPROF_FIGURE_RSS_ANON), known)) ||
	       add_mapped(e, s) || add_rest_and_total(e, s);
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* What processes have in common since a fork. */
static void describe_sharing(struct jprof_explain_info *info, const struct sides *s)
{
	const struct jp_figures *f = &s->now->outside.now.figures;
	info->shared = figure(s, JPROF_FIGURE_SHARED).now;
	info->workers = f->worker_shared.of;
	info->before_fork = f->master.of == 1 ? f->master.bytes : NAN;
	info->still_shared = info->workers ? f->worker_shared.bytes / info->workers : NAN;
}

static void describe_processes(struct jprof_explanation *e, const struct sides *s)
{
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
		jprof_profile_range(s->change, JPROF_INUSE_SPACE, &range);
		info->group_growth = before->known ? info->group.current - before->current : NAN;
		int64_t first = (int64_t)s->change->base_mtime, last = jprof_profile_time(s->now);
		info->seconds = first && last > first ? (double)(last - first) : NAN;
	}
	info->error = (range.high - range.low) / 2;
}

static int make_rows(struct jprof_explanation *e, const struct sides *s, struct jprof_error *err)
{
	describe_processes(e, s);
	if (e->info.dumpless)
		return add_rows_of_proc(e, s) ? jp_error_nomem(err) : 0;
	struct jp_figure_pair room = pair_of_rooms(s);
	int rc = add_live(e, s, err);
	if (!rc && add_gc_heap(e, s))
		rc = jp_error_nomem(err);
	if (!rc)
		rc = add_fragmentation(e, s, err);
	if (!rc && (add_freed_parts(e, s, room) || add_overhead(e, s) || add_past(e, s, room) || add_mapped(e, s) ||
	            add_untouched(e, room) || add_rest_and_total(e, s) || jp_explain_helps(e, s->now)))
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
	struct sides sides = { .now = profile, .change = change };
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
