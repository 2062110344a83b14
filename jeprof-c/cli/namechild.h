/* The child that finds names (cli/sandbox.h): what it is sent, and what it sends back, on a SOCK_STREAM.
 *
 * First it sends struct confine_walls. A question is struct namechild_question; then one byte for each
 * namechild_most_fds of its descriptors, with these; then its bytes. An answer is struct namechild_answer and its
 * bytes. */
#pragma once

#include <stdint.h>

#include "cli/confine.h"

enum { namechild_most_fds = 200 };

struct namechild_question {
	uint64_t len;
	uint64_t file_count;
};

/* 0, or one of enum jprof_code and no bytes. */
struct namechild_answer {
	int64_t code;
	uint64_t len;
};

struct namechild_limits {
	uint64_t bytes;            /* of memory, beyond what the child begins with */
	unsigned seconds;          /* of CPU time in all */
	unsigned seconds_for_file; /* for one question; the parent watches it, and adds some for large files */
	unsigned look_ms;          /* how often the parent looks whether it does something, */
	unsigned idle_looks;       /* and how often it may find that it does not */
	unsigned waits;            /* how much longer a question may take by the clock than of CPU time */
};

/* With `left` bytes of memory left for the program, of which it keeps a quarter; UINT64_MAX: not known. */
struct namechild_limits namechild_limits(uint64_t left);

/* Closes all descriptors but `socket`, and `errors`, which becomes the standard error; gives up what it may, answers
 * and never returns. `parent`: the process that it ends with. */
_Noreturn void namechild_run(int socket, int errors, int parent, const struct namechild_limits *limits);
