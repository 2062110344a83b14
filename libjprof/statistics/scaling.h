/* From the counters of samples, as dumps print them, to estimates of the truth. */
#pragma once

#include <stdint.h>

#include "jprof.h"

/* How sampled counters become estimates. */
enum jp_scaling {
	JP_SCALE_POISSON, /* k = 1/(1-exp(-(bytes/objects)/rate)) */
	JP_SCALE_LINEAR,  /* k = 1/((bytes/objects)/(rate/2)) where that is above 1: gperftools' first version */
	JP_SCALE_NONE,    /* every allocation was counted */
};

/* Whether it is one: callers may give any number. */
static inline bool jp_is_counter(enum jprof_counter counter)
{
	return (unsigned)counter < JPROF_COUNTERS;
}

/* The counters of a counter's pair: bytes and objects, in use or ever allocated. */
static inline enum jprof_counter jp_bytes_of(enum jprof_counter counter)
{
	return counter < JPROF_ALLOC_SPACE ? JPROF_INUSE_SPACE : JPROF_ALLOC_SPACE;
}

static inline enum jprof_counter jp_objects_of(enum jprof_counter counter)
{
	return counter < JPROF_ALLOC_SPACE ? JPROF_INUSE_OBJECTS : JPROF_ALLOC_OBJECTS;
}

/* Whether it counts bytes, or else objects; all that was ever allocated, or else what is in use. */
static inline bool jp_counts_bytes(enum jprof_counter counter)
{
	return counter == JPROF_INUSE_SPACE || counter == JPROF_ALLOC_SPACE;
}

static inline bool jp_counts_ever(enum jprof_counter counter)
{
	return counter == JPROF_ALLOC_SPACE || counter == JPROF_ALLOC_OBJECTS;
}

/* jemalloc's inverse of sampling for one counter pair of one stack; `rate` is the mean number of bytes between two
 * samples. A pair without objects, bytes or rate stays as it is. */
void jp_unbias(uint64_t rate, uint64_t objects, uint64_t bytes, double *true_objects, double *true_bytes);

/* The same for all four counters of a record. */
void jp_unbias_record(uint64_t rate, const uint64_t count[JPROF_COUNTERS], double value[JPROF_COUNTERS]);

/* All four counters of a record, scaled in the way of their input. */
void jp_scale_record(enum jp_scaling scaling, uint64_t rate, const uint64_t count[JPROF_COUNTERS],
                     double value[JPROF_COUNTERS]);
