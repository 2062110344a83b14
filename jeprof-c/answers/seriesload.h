/* From the snapshots of a command line to a series. */
#ifndef JEPROF_SERIESLOAD_H
#define JEPROF_SERIESLOAD_H

#include "answers/diffopts.h"
#include "report/load.h"

struct loaded_series {
	struct jprof_series *series;
	const char *const *paths; /* of the snapshots; part of the operands */
	size_t count;
	const char *program; /* that they were read with, or NULL; part of the inputs */
	char **notes;        /* what is to be known of how snapshots were compared; owned */
	size_t note_count;
	size_t about; /* the first so many are about what the snapshots are of */
};

/* Reads them. False after having said what is wrong. To be released in either case. */
bool series_load(struct loaded_series *loaded, const struct inputs *inputs, const struct diff_options *options);
void series_release(struct loaded_series *loaded);

/* What --by, an enum diff_by, means for views; lines are those of Ruby where there are any. */
enum jprof_granularity series_granularity(int by, bool ruby);

/* Begins a command on the same snapshots: its words, the options they were read with, and the program. */
void diff_next_command(struct typed *command, const char *words, const struct loaded_series *loaded,
                       const struct diff_options *options);

#endif
