/* The snapshots of jprof watch, in memory: the first, the last, and a few between. */
#pragma once

#include "report/load.h"
#include "snap/memsnap.h"

enum { most_watched = 5, watched_name_size = 16 };

struct watched {
	struct memsnap snaps[most_watched];
	char names[most_watched][watched_name_size]; /* the time of day: "12:05:30" */
	size_t count;
	int pid; /* of the process, or of the master of several */
	uint64_t start_ticks;
	struct live_input inputs[most_watched];
	char *operands[most_watched];
};

/* Takes a snapshot behind the others, of which every second one goes where there are too many. False after having said
 * what is wrong; the others are as they were. */
bool watched_take(struct watched *w, const struct snap_options *which);

/* Whether the process still runs: after the first snapshot. */
bool watched_runs(const struct watched *w);

/* What to read for a series of all of them. It lives until the next one is taken. */
struct inputs watched_inputs(struct watched *w);

void watched_free(struct watched *w);
