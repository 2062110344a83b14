/* explain --copied: what processes no longer share with their parent since the fork. */
#pragma once

#include "cli/answer.h"
#include "cli/sink.h"
#include "report/options.h"

/* Processes that were compared with the parents that they were forked from. */
struct forks;

/* Compares those that the options name: a fork or the forks of a parent by its pid, or a Puma's workers. NULL: nothing
 * could be compared; why is said where that is not `silent`. For forks_free(). */
struct forks *forks_find(const struct options *options, bool silent);

/* NULL is fine. */
void forks_free(struct forks *forks);

/* Adds what each of them copied, and mostly for what, in one note, where that is 1 MB or more. NULL is none. */
void forks_add_line(struct answer *answer, const struct forks *forks);

/* The figures of each of them, as the mean: "copied" of docs/internals/explain.schema.json. */
void forks_put_json(FILE *out, const struct forks *forks);

/* Prints all of it. False after having said what is wrong. */
bool explain_copied(const struct options *options, struct sink *sink);
