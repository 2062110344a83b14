/* How far a sum over samples may be off: docs/internals/statistics.md. */
#pragma once

#include <stdint.h>

#include "jprof.h"

/* What was really seen, on one side of a sum or difference: enough to say how far its estimate may
 * be off. Sampled objects count; those that are the same on both sides are left out. See
 * docs/internals/statistics.md. */
struct jp_seen {
	double n[2];                     /* sampled objects: in use, ever allocated */
	double variance[JPROF_COUNTERS]; /* of the estimates, in their units squared */
	float worth[JPROF_COUNTERS];     /* what one sampled object stands for; mean by variance */
	float open[JPROF_COUNTERS];      /* the chance that an object was not sampled; mean by variance */
	float rounding[2];               /* bytes by which rounding may be off; counts where stacks are split */
};

/* What the operations on a profile mean for its errors. */
struct jp_lineage {
	double rate;         /* mean bytes between two samples, the largest of all inputs; 0: not known */
	bool subtracted;     /* something was: a row may have had more than was seen of it */
	bool strangers;      /* dumps of processes without a common past were subtracted */
	bool shared_sum;     /* dumps with a common past were added: what they share is not known */
	bool shared_unknown; /* such were subtracted, and what they share is not known for every stack */
	bool other_counts;   /* and of some stack, what was ever allocated is not that of one process at two moments */
	bool replaced;       /* of different processes were subtracted, which may have inherited the same objects */
};

/* Adds what was seen of other objects; `factor` is that of their values, any sign. */
void jp_seen_add(struct jp_seen *to, const struct jp_seen *from, double factor);

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

static inline bool jp_was_sampled(const struct jp_seen *seen)
{
	return seen->n[0] > 0 || seen->n[1] > 0;
}

/* What a sum rests on. Zero bytes are the sum of nothing. */
struct jp_evidence {
	double value, shift;
	struct jp_spread plus, minus;
	double rounding; /* of stacks that were split: these are off to the same side */
	bool unknown;    /* holds values without samples: from an input that does not tell them */
};

/* What a value and what was seen of it contribute to a sum of one counter; `shift` undoes the rounding of the value. */
struct jp_evidence jp_evidence_of(const struct jp_lineage *lineage, double value, double shift,
                                  const struct jp_seen *plus, const struct jp_seen *minus, enum jprof_counter counter);

/* What the rounding of a split stack's bytes adds to the evidence of such a counter; of objects it is in the variance.
 */
double jp_split_rounding(const struct jp_seen *plus, const struct jp_seen *minus, enum jprof_counter counter);

/* Of different stacks, whose samples are independent. */
void jp_evidence_add(struct jp_evidence *to, const struct jp_evidence *from);

struct jprof_range jp_evidence_range(const struct jp_lineage *lineage, const struct jp_evidence *evidence,
                                     enum jprof_counter counter);

/* The same for the sum of a whole profile, sampled every `rate` bytes: tells how much may be there where nothing was
 * seen. */
struct jprof_range jp_evidence_total_range(const struct jp_lineage *lineage, uint64_t rate,
                                           const struct jp_evidence *evidence, enum jprof_counter counter);
