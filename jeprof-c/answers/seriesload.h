/* From the snapshots of a command line to a series. */
#pragma once

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
	int by; /* what a row is, an enum diff_by: that of the options, or a better one where they leave it open */
	struct typed lines; /* the command that would give lines of Ruby; "": there is none, or they are there */
};

/* Reads them. False after having said what is wrong. To be released in either case. */
bool series_load(struct loaded_series *loaded, const struct inputs *inputs, const struct diff_options *options);

/* The same of two snapshots whose difference the caller has; without paths. */
bool series_of_difference(struct loaded_series *loaded, const struct loaded *change,
                          const struct diff_options *options);
void series_release(struct loaded_series *loaded);

/* One process of the same series, from the first to the last snapshot, with rows of the same kind: a member of both
 * bundles by its pid. To be freed; NULL where it cannot be had. */
struct jprof_series *series_of_member(const struct loaded_series *loaded, const struct inputs *inputs,
                                      const struct diff_options *options, const char *pid);

/* Whether all of malloc together grew by more than chance, and goes on growing. */
bool series_all_grew(const struct jprof_series *series);

/* What --by, an enum diff_by, means for views; lines are those of Ruby where there are any. */
enum jprof_granularity series_granularity(int by, bool ruby);

/* Begins a command on the same snapshots: its words, the options they were read with, and the program. */
void diff_next_command(struct typed *command, const char *words, const struct loaded_series *loaded,
                       const struct diff_options *options);
