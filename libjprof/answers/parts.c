#include "answers/parts.h"

#include <math.h>

#include "answers/gcheap.h"
#include "model/profile.h"

static double figure_at(const struct jp_moments *moments, size_t i, enum jprof_figure figure)
{
	return jprof_profile_figure(moments->at[i].profile, moments->at[i].base, figure);
}

/* A figure that not every process has: 0 at all moments where it is not known at one of them. */
static double figure_or_none(const struct jp_moments *moments, size_t i, enum jprof_figure figure)
{
	for (size_t k = 0; k < moments->count; k++)
		if (isnan(figure_at(moments, k, figure)))
			return 0;
	return figure_at(moments, i, figure);
}

static double processes_at(const struct jp_moments *moments, size_t i)
{
	struct jprof_outside outside;
	jprof_profile_outside(moments->at[i].profile, moments->at[i].base, &outside);
	return outside.processes;
}

/* What of sampled small objects is touched, and so memory: an object begins anywhere in its first page, so that its
 * pages have one page more than it, as a mean. */
static double touched_by_samples(const struct jp_moments *m, size_t i)
{
	return figure_at(m, i, JPROF_FIGURE_SAMPLED) * figure_at(m, i, JPROF_FIGURE_PAGE) / processes_at(m, i);
}

/* By jemalloc's count, which has another number for sampled objects than what they hold. */
static double live_bytes(const struct jp_moments *m, size_t i)
{
	double beyond = figure_at(m, i, JPROF_FIGURE_SAMPLED_COUNTED) - figure_at(m, i, JPROF_FIGURE_SAMPLED_SPACE);
	return figure_at(m, i, JPROF_FIGURE_ALLOCATED) - beyond - figure_at(m, i, JPROF_FIGURE_CACHED);
}

/* What is in memory of jemalloc's mappings, by the kernel, less what is in use of it, by jemalloc; NAN where the
 * mappings are not known: they must have the space that jemalloc counts. */
static double room_for_freed(const struct jp_moments *m, size_t i)
{
	double space = figure_at(m, i, JPROF_FIGURE_SPACE), tables = figure_at(m, i, JPROF_FIGURE_TABLES);
	double extents = figure_at(m, i, JPROF_FIGURE_SAMPLED_PAGES) + figure_at(m, i, JPROF_FIGURE_PADDING);
	double in_use = figure_at(m, i, JPROF_FIGURE_ACTIVE) - extents + figure_at(m, i, JPROF_FIGURE_SAMPLED_SPACE) +
	                touched_by_samples(m, i) + figure_at(m, i, JPROF_FIGURE_METADATA) -
	                figure_or_none(m, i, JPROF_FIGURE_INTERNAL); /* it is active, too */
	if (!(space > 0) || !(figure_at(m, i, JPROF_FIGURE_MAPPED_SPACE) >= space))
		return NAN;
	return figure_at(m, i, JPROF_FIGURE_MAPPED) - (isnan(tables) ? 0 : tables) - in_use;
}

/* What must be untouched at least at a moment beside stacks of threads, even if no freed page is in memory. */
static double hole_at(const struct jp_moments *m, size_t i)
{
	return fmax(-room_for_freed(m, i) - figure_at(m, i, JPROF_FIGURE_VM_STACKS), 0);
}

/* Large objects, which may be untouched: only what a moment has more of them than another may be new in its hole. */
static double large_bytes(const struct jp_moments *m, size_t i)
{
	return figure_at(m, i, JPROF_FIGURE_LARGE) - figure_at(m, i, JPROF_FIGURE_VM_STACKS);
}

/* The allocator's tables, and what a program reserved at its start, stay untouched. So the largest hole of all moments
 * is there at each of them, and where it is no longer seen freed pages fill it. */
static double untouched_of_each(const struct jp_moments *m)
{
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < m->count; i++)
		least = fmin(least, large_bytes(m, i));
	for (size_t i = 0; i < m->count; i++)
		most = fmax(most, (hole_at(m, i) - (large_bytes(m, i) - least)) / processes_at(m, i));
	return most;
}

struct jp_moments jp_moments_of(const struct jp_moment *at, size_t count)
{
	struct jp_moments moments = { at, count, true, 0 };
	for (size_t i = 0; i < count; i++)
		moments.by_kernel = moments.by_kernel && !isnan(room_for_freed(&moments, i));
	if (moments.by_kernel)
		moments.untouched = untouched_of_each(&moments);
	return moments;
}

/* From outside jemalloc's pages were looked at one by one: what was never touched is in no figure. */
static bool seen_page_by_page(const struct jp_moments *m, size_t i)
{
	const struct jp_outside *outside = &m->at[i].profile->outside;
	const struct jp_figures *figures = m->at[i].base ? &outside->base.figures : &outside->now.figures;
	return !*jprof_profile_info(m->at[i].profile)->format || *figures->seen.jemalloc;
}

/* What is in use by jemalloc's count, and not in memory by the kernel's: stacks of threads, tables of jemalloc's own, a
 * large calloc. No more than leaves room for all dirty pages; below 0. */
static double untouched_bytes(const struct jp_moments *m, size_t i)
{
	if (!m->by_kernel || seen_page_by_page(m, i))
		return NAN;
	double room = room_for_freed(m, i), dirty = figure_at(m, i, JPROF_FIGURE_DIRTY);
	double untouched =
	    figure_at(m, i, JPROF_FIGURE_VM_STACKS) + fmax(m->untouched * processes_at(m, i), hole_at(m, i));
	return -fmin(untouched, fmax(dirty - room, 0));
}

/* Freed pages that are in memory: no more than jemalloc counts, nor than its mappings have beside what is in use and
 * touched. Those of a freed sample are five, of which one was touched. */
static double dirty_in_memory(const struct jp_moments *m, size_t i)
{
	double dirty = figure_at(m, i, JPROF_FIGURE_DIRTY);
	return m->by_kernel && !seen_page_by_page(m, i)
	           ? fmax(fmin(room_for_freed(m, i) - untouched_bytes(m, i), dirty), 0)
	           : dirty;
}

/* Of a Ruby that did not say how large its GC heap is, that is in it; of all others what the program mapped itself.
 * Where each page of the GC heap was looked at, the rest is known, too. */
static double past_bytes(const struct jp_moments *m, size_t i)
{
	bool heap_known = !isnan(figure_at(m, m->count - 1, JPROF_FIGURE_GC_HEAP));
	double past = m->by_kernel ? figure_at(m, i, JPROF_FIGURE_PAST) : NAN;
	if (!heap_known)
		return past;
	return seen_page_by_page(m, i) ? fmax(past - figure_at(m, i, JPROF_FIGURE_GC_HEAP), 0) : NAN;
}

/* Where slots have several sizes GC.stat does not say how many bytes are free, and counting the objects does. */
static double free_slots(const struct jp_moments *m, size_t i)
{
	double known = figure_at(m, i, JPROF_FIGURE_GC_FREE);
	double counted = jp_counted_slots(m->at[i].profile, m->at[i].base);
	return isnan(figure_at(m, m->count - 1, JPROF_FIGURE_GC_FREE)) ? figure_at(m, i, JPROF_FIGURE_GC_HEAP) - counted
	                                                               : known;
}

/* Bytes of Ruby's GC heap beside the objects that samples stand for: the free slots, about. Not below 0, where the
 * samples say too much. */
static double rest_of_gc_heap(const struct jp_moment *at)
{
	const struct jprof_profile *p = at->profile;
	if (!p->info.has_slots)
		return NAN;
	double change = jprof_profile_heap_total(p, JPROF_HEAP_SLOTS, JPROF_INUSE_SPACE, false);
	double base =
	    p->lineage.subtracted ? jprof_profile_heap_total(p, JPROF_HEAP_SLOTS, JPROF_INUSE_SPACE, true) : 0;
	return fmax(jprof_profile_figure(p, at->base, JPROF_FIGURE_GC_HEAP) - (at->base ? base : base + change), 0);
}

/* RSS of one process, of several what each has of shared memory (Pss), by how many there are in the end. */
static double total_bytes(const struct jp_moments *m, size_t i)
{
	size_t last = m->count - 1;
	bool several = processes_at(m, last) > 1 && !isnan(figure_at(m, last, JPROF_FIGURE_PSS));
	return figure_at(m, i, several ? JPROF_FIGURE_PSS : JPROF_FIGURE_RSS);
}

/* Where Ruby's GC heap is known it is none of it, nor is the heap for what is young, nor V8's. */
static double anonymous_bytes(const struct jp_moments *m, size_t i)
{
	bool heap_known = !isnan(figure_at(m, i, JPROF_FIGURE_GC_HEAP));
	double ruby =
	    heap_known ? figure_at(m, i, JPROF_FIGURE_GC_HEAP) + figure_or_none(m, i, JPROF_FIGURE_TRANSIENT) : 0;
	return figure_at(m, i, JPROF_FIGURE_RSS_ANON) - figure_or_none(m, i, JPROF_FIGURE_STACKS) -
	       figure_or_none(m, i, JPROF_FIGURE_JIT) - figure_or_none(m, i, JPROF_FIGURE_COPIES) -
	       figure_or_none(m, i, JPROF_FIGURE_V8) - ruby;
}

/* What is active and not allocated, but for pages of samples that are counted as the one and not as the other. */
static double fragmentation(const struct jp_moments *m, size_t i)
{
	double uncounted = figure_at(m, i, JPROF_FIGURE_SAMPLED_PAGES) - figure_at(m, i, JPROF_FIGURE_SAMPLED_COUNTED);
	return figure_at(m, i, JPROF_FIGURE_ACTIVE) - figure_at(m, i, JPROF_FIGURE_ALLOCATED) -
	       figure_at(m, i, JPROF_FIGURE_PADDING) - uncounted;
}

double jp_part_bytes(const struct jp_moments *m, size_t i, enum jprof_part part)
{
	switch (part) {
	case JPROF_PART_LIVE: return live_bytes(m, i);
	case JPROF_PART_GC_HEAP: return figure_at(m, i, JPROF_FIGURE_GC_HEAP);
	case JPROF_PART_GC_OBJECTS: return figure_at(m, i, JPROF_FIGURE_GC_HEAP) - free_slots(m, i);
	case JPROF_PART_GC_FREE: return free_slots(m, i);
	case JPROF_PART_GC_REST: return rest_of_gc_heap(&m->at[i]);
	case JPROF_PART_TRANSIENT: return figure_at(m, i, JPROF_FIGURE_TRANSIENT);
	case JPROF_PART_V8: return figure_at(m, i, JPROF_FIGURE_V8);
	case JPROF_PART_PAST: return past_bytes(m, i);
	case JPROF_PART_FRAGMENTATION: return fragmentation(m, i);
	case JPROF_PART_PADDING: return figure_or_none(m, i, JPROF_FIGURE_LARGE_PADDING);
	case JPROF_PART_KEPT:
		return dirty_in_memory(m, i) + figure_at(m, i, JPROF_FIGURE_MUZZY) +
		       figure_at(m, i, JPROF_FIGURE_CACHED);
	case JPROF_PART_DIRTY: return dirty_in_memory(m, i);
	case JPROF_PART_MUZZY: return figure_at(m, i, JPROF_FIGURE_MUZZY);
	case JPROF_PART_CACHED: return figure_at(m, i, JPROF_FIGURE_CACHED);
	case JPROF_PART_METADATA: return figure_at(m, i, JPROF_FIGURE_METADATA);
	case JPROF_PART_TWICE: return -figure_at(m, i, JPROF_FIGURE_INTERNAL);
	case JPROF_PART_INTERNAL_LIVE:
	case JPROF_PART_INTERNAL: return figure_at(m, i, JPROF_FIGURE_INTERNAL);
	case JPROF_PART_PROFILER: return touched_by_samples(m, i) + figure_or_none(m, i, JPROF_FIGURE_TABLES);
	case JPROF_PART_SAMPLE_PAGES: return touched_by_samples(m, i);
	case JPROF_PART_TABLES: return figure_or_none(m, i, JPROF_FIGURE_TABLES);
	case JPROF_PART_STACKS: return figure_at(m, i, JPROF_FIGURE_STACKS);
	case JPROF_PART_FILES:
		return figure_at(m, i, JPROF_FIGURE_RSS_FILE) + figure_or_none(m, i, JPROF_FIGURE_COPIES);
	case JPROF_PART_JIT: return figure_at(m, i, JPROF_FIGURE_JIT);
	case JPROF_PART_SHMEM: return figure_at(m, i, JPROF_FIGURE_RSS_SHMEM);
	case JPROF_PART_ANONYMOUS: return anonymous_bytes(m, i);
	case JPROF_PART_UNTOUCHED: return untouched_bytes(m, i);
	case JPROF_PART_SWAPPED: return -figure_at(m, i, JPROF_FIGURE_SWAP);
	case JPROF_PART_TOTAL: return total_bytes(m, i);
	default: return NAN;
	}
}

double jprof_profile_part(const struct jprof_profile *profile, bool base, enum jprof_part part)
{
	const struct jp_moment at[] = { { profile, true }, { profile, false } };
	bool difference = profile && profile->lineage.subtracted;
	if (!profile || (base && !difference))
		return NAN;
	struct jp_moments moments = jp_moments_of(difference ? at : at + 1, difference ? 2 : 1);
	return jp_part_bytes(&moments, difference && !base, part);
}
