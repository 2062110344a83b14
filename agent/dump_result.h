/* One dump: what is asked for, and what came of it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "ruby/ruby.h"

struct dump_request {
	const char *reason;
	const char *label; /* or NULL */
	bool gc;
	unsigned timeout; /* ms that Ruby is waited for, 0: not asked at all */
	bool fds;         /* dump and side-car are wanted as descriptors, and no file */
	bool table;       /* with fds: the table, too */
	bool objects;     /* Ruby's objects are counted */
	bool graph;       /* with fds and objects: a child writes their graph, too */
	bool at_exit;     /* on a thread of the program's, which ends */
};

struct dump_result {
	char dump[PATH_MAX]; /* a path; with fds a file name */
	char sidecar[PATH_MAX + 8];
	char table[PATH_MAX + 8]; /* "": there is none */
	unsigned seq;
	unsigned milliseconds; /* that prof.dump took */
	unsigned fds;          /* how many, sealed: HANDLE_DUMP, HANDLE_SIDECAR and HANDLE_TABLE */
	bool graph;            /* HANDLE_GRAPH_READ gets it, also where the dump is in files */
	char graph_why[256];   /* why not */
	char direct[160];      /* why jemalloc wrote the file itself, a fork waiting for it meanwhile; "": it did not */
	struct ruby_answer ruby;
	char error[PATH_MAX + 256];
};
