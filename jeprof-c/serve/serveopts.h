/* The command line of `jprof serve`. */
#pragma once

#include "report/options.h"
#include "snap/snapopts.h"

struct serve_options {
	bool help;
	const char *pid, *puma, *listen, *interval;
	uint64_t interval_ms;      /* from one dump to the next, at least */
	struct options report;     /* where names are looked for, and what a profile has */
	struct snap_options which; /* the processes, in the words of snap */
};

/* Reads argv[1..]. False after having said what is wrong. To be freed in either case. */
bool serve_options_parse(struct serve_options *options, int argc, char **argv);
void serve_options_free(struct serve_options *options);

void serve_options_help(void);
