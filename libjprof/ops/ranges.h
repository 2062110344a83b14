/* How far a profile's numbers may be off: statistics/evidence.h, for what is in a profile. */
#pragma once

#include "model/profile.h"

/* What one sample contributes to a sum of one counter. */
struct jp_evidence jp_sample_evidence(const struct jprof_profile *profile, const struct jp_sample *sample,
                                      enum jprof_counter counter);

/* jprof_profile_range for the samples of one heap and one thread label; NULL: all threads. */
void jp_profile_range(const struct jprof_profile *profile, enum jprof_heap heap, enum jprof_counter counter,
                      const char *thread, struct jprof_range *range);
