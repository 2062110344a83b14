/* How bundles are named, and which of a series are kept. */
#pragma once

#include "snap/snapopts.h"

/* Bundles of one label (or, without one, of one process) in one directory:
 *   DIR/jprof-LABEL-PID[.N].jprof, DIR/jprof-PID[.N].jprof, or with -o FILE.jprof FILE[.N].jprof */
struct series {
	char *dir;   /* with its last slash */
	char *begin; /* of names, up to the PID if `by_pid` */
	bool by_pid; /* a number follows */
	int pid;     /* of the next name */
	bool exact;  /* -o FILE for a single bundle: that name or none */
	bool numbered;
};

/* For bundles of processes of which the first is `pid`. False after having said what is wrong. */
bool series_begin(struct series *series, const struct snap_options *options, int pid);

/* A path that is not there yet, in memory that the caller frees: with the number that follows the highest. NULL
 * after having said what is wrong. */
char *series_next(const struct series *series);

/* Removes the oldest of the series beyond what is to be kept, but never `newest`. */
void series_prune(const struct series *series, const struct snap_options *options, const char *newest);

void series_end(struct series *series);
