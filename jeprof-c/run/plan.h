/* What `jprof run` would do with a command: found and proved, nothing started. */
#pragma once

#include "run/runopts.h"

struct run_plan {
	struct program target;
	struct allocator allocator;
	char *agent; /* its file; NULL: none is wanted */
	char *dir;   /* of the dumps; NULL: MALLOC_CONF has a prefix of the user's */
	bool no_dir; /* no dump can go to a file: `dir` is one that is not there */
	struct run_env env;
};

/* argv[0] NULL: for --print-env, of no program. With `dry` no directory is made. What gives way is said. 0, or a code
 * with the reason, in one line, why the command cannot be profiled; it may be one that can be started. */
int run_plan_make(struct run_plan *plan, const struct run_options *options, char *const *argv, bool dry,
                  struct jprof_error *err);
void run_plan_free(struct run_plan *plan);
