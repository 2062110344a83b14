#include "answers/outsiders.h"

#include <math.h>

#include "base/macros.h"

static const double sampled_least = 16384; /* jemalloc counts a sampled small object as large as that */

static double or_none(double bytes)
{
	return isnan(bytes) ? 0 : bytes;
}

enum jprof_part jp_outsider_at(unsigned i)
{
	static const enum jprof_part parts[jp_most_outsiders] = {
		JPROF_PART_GC_HEAP,  JPROF_PART_FRAGMENTATION, JPROF_PART_KEPT,  JPROF_PART_METADATA,
		JPROF_PART_PROFILER, JPROF_PART_STACKS,        JPROF_PART_FILES, JPROF_PART_JIT,
		JPROF_PART_SHMEM,    JPROF_PART_NOT_EXPLAINED,
	};
	return i < jp_most_outsiders ? parts[i] : JPROF_PARTS;
}

static double live_bytes(const struct jprof_profile *p, bool base)
{
	double sampled = jprof_profile_figure(p, base, JPROF_FIGURE_SAMPLED);
	double beyond = sampled * sampled_least - jprof_profile_figure(p, base, JPROF_FIGURE_SAMPLED_SPACE);
	return jprof_profile_figure(p, base, JPROF_FIGURE_ALLOCATED) - beyond -
	       jprof_profile_figure(p, base, JPROF_FIGURE_CACHED);
}

/* What remains of RSS when all that is known is taken off. */
static double rest_bytes(const struct jprof_profile *p, bool base)
{
	double rest = jprof_profile_figure(p, base, JPROF_FIGURE_RSS) - live_bytes(p, base);
	for (unsigned i = 0; jp_outsider_at(i) != JPROF_PART_NOT_EXPLAINED; i++)
		rest -= or_none(jp_outsider_bytes(p, base, jp_outsider_at(i)));
	rest -= or_none(jprof_profile_figure(p, base, JPROF_FIGURE_TRANSIENT));
	return rest + or_none(jprof_profile_figure(p, base, JPROF_FIGURE_SWAP));
}

double jp_outsider_bytes(const struct jprof_profile *p, bool base, enum jprof_part part)
{
	struct jprof_outside outside;
	jprof_profile_outside(p, base, &outside);
	double processes = outside.processes;
	switch (part) {
	case JPROF_PART_GC_HEAP: return jprof_profile_figure(p, base, JPROF_FIGURE_GC_HEAP);
	case JPROF_PART_FRAGMENTATION:
		return jprof_profile_figure(p, base, JPROF_FIGURE_ACTIVE) -
		       jprof_profile_figure(p, base, JPROF_FIGURE_ALLOCATED) -
		       jprof_profile_figure(p, base, JPROF_FIGURE_PADDING);
	case JPROF_PART_KEPT:
		return jprof_profile_figure(p, base, JPROF_FIGURE_DIRTY) +
		       jprof_profile_figure(p, base, JPROF_FIGURE_MUZZY) +
		       jprof_profile_figure(p, base, JPROF_FIGURE_CACHED);
	case JPROF_PART_METADATA: return jprof_profile_figure(p, base, JPROF_FIGURE_METADATA);
	case JPROF_PART_PROFILER:
		return jprof_profile_figure(p, base, JPROF_FIGURE_SAMPLED) *
		           jprof_profile_figure(p, base, JPROF_FIGURE_PAGE) / processes +
		       or_none(jprof_profile_figure(p, base, JPROF_FIGURE_TABLES));
	case JPROF_PART_STACKS: return jprof_profile_figure(p, base, JPROF_FIGURE_STACKS);
	case JPROF_PART_FILES:
		return jprof_profile_figure(p, base, JPROF_FIGURE_RSS_FILE) +
		       or_none(jprof_profile_figure(p, base, JPROF_FIGURE_COPIES));
	case JPROF_PART_JIT: return jprof_profile_figure(p, base, JPROF_FIGURE_JIT);
	case JPROF_PART_SHMEM: return jprof_profile_figure(p, base, JPROF_FIGURE_RSS_SHMEM);
	case JPROF_PART_NOT_EXPLAINED: return rest_bytes(p, base);
	case JPROF_PART_TOTAL:
		return processes > 1 && !isnan(outside.pss) ? outside.pss
		                                            : jprof_profile_figure(p, base, JPROF_FIGURE_RSS);
	default: return NAN;
	}
}
