/* Files that a process names; the public part is in jprof.h. */
#ifndef JP_COLLECT_DUMPFILE_H
#define JP_COLLECT_DUMPFILE_H

#include <sys/stat.h>

#include "collect/target.h"

struct jprof_dump_file {
	int dir; /* O_PATH */
	char *name;
	int fd; /* open for reading */
	struct stat st;
};

/* An O_PATH descriptor of the directory of `path` as the process sees it, which without a leading slash is below
 * its working directory; -1 with errno set. */
int jp_dump_dir_open(const struct jprof_target *target, const char *path);

/* What follows the last slash. */
const char *jp_dump_base(const char *path);

/* Opens the file `name` in an O_PATH directory. */
int jp_dump_file_at(const struct jprof_target *target, int dir, const char *name, struct jprof_dump_file **file,
                    struct jprof_error *err);

#endif
