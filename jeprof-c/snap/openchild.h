/* What the child of an opener does, and how it is spoken to: one message for a request, one for its reply, on a
 * SOCK_SEQPACKET. */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#include "jprof.h"
#include "snap/places.h"

/* Beside those of enum jprof_open. */
enum { OPENCHILD_REMOVE = 100, OPENCHILD_LOOK, OPENCHILD_LOOK_AT_LINK };

struct openchild_request {
	uint32_t what;
	dev_t dev; /* of what is to be removed */
	ino_t ino;
	char path[PATH_MAX]; /* sent up to its NUL */
};

/* With a descriptor, where one was asked for and error is 0. The first one is sent without being asked: the child has
 * the rights and is ready. */
struct openchild_reply {
	int error;
	int failed_at; /* of the first one: enum openchild_step */
	struct stat st;
};

/* The reply to a look. */
struct openchild_looked {
	struct openchild_reply reply;
	struct look look;
};

enum openchild_step { OPENCHILD_ROOT, OPENCHILD_RIGHTS };

struct openchild_plan {
	int pid;           /* whose files */
	unsigned uid, gid; /* to become */
	const unsigned *groups;
	size_t group_count;
	uint64_t capabilities; /* to keep at most */
	const char *mapped; /* START-LIMIT: only this mapped file is opened, and sent with the first reply; or NULL */
};

/* Closes all descriptors but `socket`, serves and never returns. Allocates nothing. */
_Noreturn void openchild_run(const struct openchild_plan *plan, int socket);
