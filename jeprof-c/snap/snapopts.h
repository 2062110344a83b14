/* The command line of `jprof snap`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct snap_options {
	const char *command; /* that has them, for messages: "snap" */
	bool help;
	int *pids; /* owned */
	size_t pid_count;
	const char *match;
	size_t children_of;
	const char *puma; /* NULL: not asked for; "": all */
	int puma_of;      /* 0: all */
	const char *label;
	bool gc;
	bool objects, no_objects;
	size_t count;      /* bundles to make; 0: until interrupted */
	const char *every; /* as given; NULL: not */
	uint64_t every_ms;
	const char *output;
	const char *mode;        /* of the bundle, in octal; NULL: for its owner alone */
	const char *signal_name; /* NULL: the agent is asked through its socket */
	int signal;
	const char *trust_name;
	int trust;
	const char *dump_dir;
	int symbols;            /* enum snap_symbols */
	int sampling;           /* enum snap_sampling */
	bool referrers;         /* and find what points to it */
	bool unreachable;       /* and to what nothing does */
	bool glances;           /* likewise where a process has the agent, if it takes little and is much */
	struct jp_strbuf *lost; /* gets the addresses and sizes of that, in lines; NULL: they are not asked for */
	bool heaps;             /* read the memory of those that cannot dump */
	bool profiles;          /* also the profiles that are in there */
	bool cmdline;
	bool no_sandbox;
	bool keep_dumps;
	size_t keep;           /* bundles of the series that are left; 0: all */
	const char *max_bytes; /* as given */
	uint64_t most_bytes;   /* 0: no limit */
	size_t timeout;        /* seconds */
	const char *debug_dir;
	bool debuginfod;
	const char *max_memory; /* as given */
};

/* SNAP_DUMPS: a bundle is made; else sampling is switched on or off, and none is. */
enum snap_sampling { SNAP_DUMPS, SNAP_ACTIVATES, SNAP_DEACTIVATES };
enum snap_symbols { SNAP_SYMBOLS_NOW, SNAP_SYMBOLS_LATER };

/* Reads argv[1..]. False after having said what is wrong. */
bool snap_options_parse(struct snap_options *options, int argc, char **argv);
void snap_options_free(struct snap_options *options);

/* Whether anything says which processes are meant. */
bool snap_options_select(const struct snap_options *options);

void snap_options_help(void);
