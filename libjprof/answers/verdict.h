/* What to make of a row's course over the snapshots: docs/internals/statistics.md has the method. */
#pragma once

#include "jprof.h"

/* What a row did over all snapshots, and from each to the next. */
struct jp_course {
	const struct jprof_change *steps;
	size_t count;
	struct jprof_change whole;
	double first;          /* what it had at the first snapshot */
	bool counted;          /* nothing of it is estimated from samples */
	bool uncollected;      /* it may be garbage of an interpreter that did not collect it before each snapshot */
	const bool *collected; /* then: whether it did before this one, of each of them; NULL: before none */
	bool idle;             /* counted: what it holds did not grow, only the room for it */
	double threshold;      /* standard errors that are beyond chance in a row of its family */
	double rate;           /* mean bytes between two samples; 0: not known, or several */

	/* By the ages of its samples, where these are known: as in struct jprof_grown. */
	enum jprof_shape shape, shape_since;
	double kept;
};

/* How many standard errors a change is from none, with the sign of it; an infinity where it has no error. */
double jp_change_distance(const struct jprof_change *change);

/* Whether what grew is one object that a larger one replaced, at most, beside a little: a buffer that grows moves when
 * it doubles, and stands still until then. */
bool jp_is_one_buffer(const struct jp_course *course);

enum jprof_verdict jp_verdict_of(const struct jp_course *course);

/* The distance that chance exceeds in one of `rows` rows in `share` of all reports. */
double jp_chance_threshold(double share, double rows);

/* The chance that any of `rows` rows in which nothing grew is as far as that. */
double jp_chance_of(double distance, double rows);

/* The samples that a row must gain by a leak to be so far from no change in 95 % of cases, beside so many that went and
 * came again. */
double jp_samples_seen_at(double threshold, double left);

/* The samples that went. */
double jp_samples_left(const struct jprof_change *change);
