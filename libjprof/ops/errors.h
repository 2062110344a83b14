/* How far a sum over samples may be off: docs/statistics.md. */
#ifndef JP_OPS_ERRORS_H
#define JP_OPS_ERRORS_H

#include "model/profile.h"

/* What was sampled on one side. All but the first two are there to tell a sum over few samples, whose
 * error is lopsided, from one over many. */
struct jp_spread {
	double n;
	double variance;
	double third;     /* third central moment */
	double worth;     /* sum over stacks of variance times what one sampled object stands for */
	double open;      /* sum over stacks of variance times the chance that an object is not sampled */
	double unsampled; /* the part of the estimate that goes beyond the sampled objects themselves */
};

/* What a sum rests on. Zero bytes are the sum of nothing. */
struct jp_evidence {
	double value, shift;
	struct jp_spread plus, minus;
	bool unknown; /* holds values without samples: from an input that does not tell them */
};

/* What one sample contributes to a sum of one counter. */
struct jp_evidence jp_evidence_of(const struct jprof_profile *profile, const struct jp_sample *sample,
                                  enum jprof_counter counter);

/* Of different stacks, whose samples are independent. */
void jp_evidence_add(struct jp_evidence *to, const struct jp_evidence *from);

struct jprof_range jp_evidence_range(const struct jprof_profile *profile, const struct jp_evidence *evidence,
                                     enum jprof_counter counter);

/* jprof_profile_range for the samples of one thread label; NULL: all. */
void jp_profile_range(const struct jprof_profile *profile, enum jprof_counter counter, const char *thread,
                      struct jprof_range *range);

#endif
