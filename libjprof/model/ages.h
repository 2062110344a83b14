/* Ages: what the epochs of a profile mean on one line of time. */
#pragma once

#include "jprof.h"
#include "model/epochs.h"

/* When in the life of its process something was allocated. */
enum jp_stage {
	JP_STAGE_UNKNOWN,
	JP_STAGE_SINCE,   /* since its start */
	JP_STAGE_STARTUP, /* in its first epoch, its first minute, or the first tenth of a shorter life */
	JP_STAGE_FORK,    /* before it was forked */
	JP_STAGES
};

/* In milliseconds since 1970, 0: not known. One that still runs ends with the dump. */
struct jp_aged {
	uint64_t begin, end; /* begin is first: jp_by_first sorts by it */
	enum jp_stage stage;
};

struct jp_ages {
	struct jp_aged *epochs; /* by id in the profile's epochs */
	uint32_t count;
	uint64_t now;     /* when the newest dump was made; milliseconds since 1970 */
	uint64_t began;   /* when the first of the processes did, as far as it is known, */
	uint64_t settled; /* and when its startup was over */
	uint32_t process; /* whose epochs make the line of time: that with the most; JP_NONE: there is none */
};

/* Whether any sample's epoch is known: else there are no ages. */
bool jp_epochs_dated(const struct jp_epochs *epochs);

/* Finds stage and end of each epoch. 0, or -1 when memory is short; to be released in either case. */
int jp_ages_init(struct jp_ages *ages, const struct jp_epochs *epochs) jp_must_check;

/* How old an epoch is on the whole: from its middle to now, in milliseconds. What was there before the first is as old
 * as the process. */
uint64_t jp_age_of(const struct jp_ages *ages, uint32_t epoch);

/* The border between epochs that is nearest to an age; both in milliseconds. It is that age where it lies in no epoch.
 */
uint64_t jp_age_border(const struct jp_ages *ages, uint64_t age);

void jp_ages_release(struct jp_ages *ages);
