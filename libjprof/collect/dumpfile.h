/* Dumps and their side-cars; the public part is in jprof.h. */
#pragma once

#include <sys/stat.h>

#include "collect/target.h"

struct jprof_dump_file {
	struct jprof_target *of; /* a copy for removing, without its pidfd; NULL: a memfd */
	char *path;              /* as the process sees it */
	const char *name;        /* its last component */
	int fd;                  /* open for reading */
	struct stat st;
};

/* Whether a name is PREFIX.PID.SEQ.jN.heap, the prefix being the last component of `prefix`. */
bool jp_dump_name_good(const char *name, const char *prefix, int pid);

/* Opens a regular file of the process's user, by its path as the process sees it. */
int jp_dump_file_open(const struct jprof_target *target, const char *path, struct jprof_dump_file **file,
                      struct jprof_error *err);

/* The same for the path with `suffix` at its end. */
int jp_dump_file_beside(const struct jprof_target *target, const struct jprof_dump_file *file, const char *suffix,
                        struct jprof_dump_file **beside, struct jprof_error *err);

/* Takes a memfd that the process handed over, and closes it where it is none that nobody can change any more. `what`
 * begins an error. */
int jp_dump_file_adopt(int fd, const char *name, const char *what, struct jprof_dump_file **file,
                       struct jprof_error *err);
