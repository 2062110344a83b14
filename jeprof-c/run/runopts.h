/* The command line of `jprof run`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "run/runenv.h"

struct run_options {
	bool help;
	bool require; /* no profile, no start */
	bool alloc;   /* prof_accum:true */
	bool inactive;
	bool no_agent;
	const char *at;          /* when the agent makes dumps by itself, or NULL */
	const char *slots;       /* bytes between samples of objects, as the agent reads them; or NULL */
	size_t sample;           /* the logarithm; 0: not given */
	const char *sample_text; /* as given */
	const char *dir;
	const char *label;
	const char *jemalloc;
	const char *print_env; /* how; "": shell */
	enum env_form form;
};

/* Reads argv[1..]; the command's words are moved to its front and end with NULL: the first is argv[1]. False after
 * having said what is wrong. */
bool run_options_parse(struct run_options *options, int argc, char **argv);

void run_options_help(void);

/* A program's name with only such characters as a label may have; owned by the caller, NULL when memory is short. */
char *run_label(const char *program);
