/* Samples: what each stack holds. */
#pragma once

#include "base/arena.h"
#include "base/index.h"
#include "base/intern.h"
#include "model/stacktable.h"
#include "statistics/evidence.h"
#include "statistics/sampling.h"
#include "statistics/scaling.h"

/* What was subtracted from a sample. */
struct jp_less {
	double base[JPROF_COUNTERS]; /* value + base is what it was subtracted from */
	struct jp_seen seen;
};

/* The numbers of a sample. */
struct jp_values {
	double value[JPROF_COUNTERS];
	double shift[JPROF_COUNTERS]; /* added to value, undoes the rounding of the dumps' counters */
	struct jp_seen plus;          /* of what was added */
	struct jp_less *less;         /* of the samples; NULL: nothing was subtracted */
};

/* What tells samples of one stack apart. */
struct jp_label {
	uint32_t thread; /* string id of the thread's label, or JP_NONE: all together */
	uint32_t epoch;  /* id in the profile's epochs, or JP_NONE: not known */
	uint32_t tag;    /* id in the profile's tags, or JP_NONE: none */
	uint32_t worker; /* string id of its process's place in a service, or JP_NONE: all together */
};

extern const struct jp_label jp_no_label;

/* Most samples are what one dump counted: their numbers follow from the counters. Others have a sum. A large dump has
 * one of these for each few words of text, so it is small. */
struct jp_sample {
	uint32_t stack;      /* id in stacks: an array of uint32_t location ids */
	uint32_t label;      /* id in samples->labels, or JP_NONE: none of these */
	uint32_t sum;        /* place in samples->sums, or JP_NONE: as it was counted */
	uint32_t large;      /* place in samples->large, or JP_NONE: what was counted is in `counted` */
	uint32_t counted[2]; /* objects and bytes in use, as in the dump; nothing was counted as ever allocated */
};

/* What was counted, where a counter takes more than 32 bits, or something was counted as ever allocated. */
struct jp_large_count {
	uint64_t count[JPROF_COUNTERS];
};

/* Samples of zero bytes are none, and ready for use. */
struct jp_samples {
	struct jp_sample *items;
	size_t cap;
	struct jp_index ids;
	struct jp_intern labels; /* of struct jp_label */
	struct jp_values *sums;
	size_t sum_count, sum_cap;
	struct jp_large_count *large;
	size_t large_count, large_cap;
	struct jp_arena subtracted; /* has the sums' `less` */
	enum jp_scaling scaling;    /* how counters become estimates, */
	uint64_t rate;              /* and by which mean number of bytes between two samples */
};

/* What a dump counted for a sample that has no sum. */
void jp_sample_counted(const struct jp_samples *samples, const struct jp_sample *sample,
                       uint64_t count[JPROF_COUNTERS]);

/* The numbers of a sample, and the estimates alone, which cost less. */
struct jp_values jp_sample_values(const struct jp_samples *samples, const struct jp_sample *sample);
void jp_sample_estimates(const struct jp_samples *samples, const struct jp_sample *sample,
                         double value[JPROF_COUNTERS]);

/* Whether any sample may have something of a counter. */
void jp_samples_used(const struct jp_samples *samples, bool used[JPROF_COUNTERS]);

/* The label of a sample, and the id of one, made when it is new: false when memory is short. */
struct jp_label jp_sample_label(const struct jp_samples *samples, const struct jp_sample *sample);
bool jp_label_id(struct jp_samples *samples, struct jp_label label, uint32_t *id) jp_must_check;

/* The sample with this stack and the label of that id, made without numbers when it is new (*known is false; may be
 * NULL); NULL when memory is short. It stays where it is until the next is made. */
struct jp_sample *jp_sample_make(struct jp_samples *samples, uint32_t stack, uint32_t label, bool *known);

/* The numbers of a sample to be changed. They stay where they are until the next sum is made. NULL when memory is
 * short. */
struct jp_values *jp_sample_sum(struct jp_samples *samples, struct jp_sample *sample);

/* Gives a sample its place in samples->large. 0, or -1 when memory is short. */
int jp_sample_make_large(struct jp_samples *samples, struct jp_sample *sample) jp_must_check;

/* Adds what a dump of the samples' scaling and rate counted. 0, or -1 when memory is short. */
int jp_sample_count_in(struct jp_samples *samples, uint32_t stack, uint32_t label,
                       const uint64_t count[JPROF_COUNTERS]) jp_must_check;

/* Takes over what the sampling of a counter and the other of its pair tells. */
void jp_values_seen(struct jp_values *values, enum jprof_counter counter, const struct jp_sampling *seen);

/* What was subtracted; zeros where nothing was. */
const struct jp_less *jp_values_less(const struct jp_values *values);

/* The same to be changed, made if there is none; NULL when memory is short. */
struct jp_less *jp_values_make_less(struct jp_samples *samples, struct jp_values *values);

/* Adds `factor` times the estimates of `like`, and keeps what was subtracted. 0, or -1 when memory is short. */
int jp_values_add_estimates(struct jp_samples *samples, struct jp_values *to, const struct jp_values *like,
                            double factor) jp_must_check;

/* Adds `factor` times all of `like`. What was sampled for the two counts as independent. 0, or -1 when memory is
 * short: of one that has its `less`, or needs none, it cannot fail. */
int jp_values_add(struct jp_samples *samples, struct jp_values *to, const struct jp_values *like,
                  double factor) jp_must_check;

/* Takes out all that was added since the samples were `was`, a copy of the struct. */
void jp_samples_cut(struct jp_samples *samples, const struct jp_samples *was);

void jp_samples_release(struct jp_samples *samples);
