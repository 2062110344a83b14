#include "ops/ranges.h"

#include <math.h>
#include <string.h>

#include "model/slotsamples.h"
#include "statistics/scaling.h"

struct jp_evidence jp_sample_evidence(const struct jprof_profile *profile, const struct jp_sample *sample,
                                      enum jprof_counter counter)
{
	struct jp_values v = jp_sample_values(&profile->samples, sample);
	struct jp_lineage lineage = profile->lineage;
	lineage.shared_unknown = lineage.shared_unknown && jp_sample_is_open(profile, sample);
	const struct jp_seen *minus = &jp_values_less(&v)->seen;
	struct jp_evidence e = jp_evidence_of(&lineage, v.value[counter], v.shift[counter], &v.plus, minus, counter);
	if (jp_has_split_stacks(profile))
		e.rounding = jp_split_rounding(&v.plus, minus, counter);
	return e;
}

void jp_profile_range(const struct jprof_profile *profile, enum jprof_heap heap, enum jprof_counter counter,
                      const char *thread, struct jprof_range *range)
{
	struct jp_evidence all = { 0 };
	for (uint32_t i = 0; i < jp_sample_count(profile); i++) {
		if (!jp_is_of_heap(profile, profile->samples.items[i].stack, heap))
			continue;
		if (thread && strcmp(jp_string(profile, jp_sample_thread(profile, &profile->samples.items[i])), thread))
			continue;
		struct jp_evidence one = jp_sample_evidence(profile, &profile->samples.items[i], counter);
		jp_evidence_add(&all, &one);
	}
	*range = jp_evidence_total_range(&profile->lineage, profile->rate, &all, counter);
}

void jprof_profile_range(const struct jprof_profile *profile, enum jprof_counter counter, struct jprof_range *range)
{
	if (!range)
		return;
	*range = (struct jprof_range){ .error = NAN, .low = NAN, .high = NAN };
	if (profile && jp_is_counter(counter))
		jp_profile_range(profile, JPROF_HEAP_ALL, counter, NULL, range);
}

const char *jprof_profile_bound(const struct jprof_profile *profile, enum jprof_counter counter)
{
	if (!profile || !jp_is_counter(counter))
		return "";
	bool in_use = counter == JPROF_INUSE_OBJECTS || counter == JPROF_INUSE_SPACE;
	if (profile->lineage.shared_unknown && profile->lineage.other_counts && in_use)
		return "errors of what changed are upper bounds: what was ever allocated in some stacks is not that of one "
		       "process at two moments, so not all of it is of the same processes";
	if (profile->lineage.shared_unknown && in_use)
		return "errors of what changed are upper bounds: only the agent's epochs, or prof_accum:true, tell how much "
		       "of what a dump holds was there before";
	if (profile->lineage.replaced)
		return "errors are upper bounds: processes were replaced between the two, and what these inherited from a "
		       "common parent may be the same objects";
	if (profile->lineage.shared_sum)
		return "errors are upper bounds: the added dumps come from one process or its forks, and may hold the same "
		       "objects";
	return "";
}
