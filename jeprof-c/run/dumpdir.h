/* The directory that dumps are written to. */
#pragma once

#include <stddef.h>

#include "jprof.h"

/* The user that a launcher changes to: "app", "app:app", "1000". 0 with the ids, or -1: no such user here. */
int dump_user(const char *name, unsigned *uid, unsigned *gid);

/* Where dumps go: `given`, or jprof-UID in $TMPDIR or /tmp. Nothing is made. */
void dump_dir_name(const char *given, unsigned uid, char *dir, size_t size);

/* Makes the directory `given` if its parent is there; NULL: that of dump_dir_name, private to the user. It can be
 * written to by `user` (as a launcher's word; NULL: the caller, who is root where it is another). *path is absolute,
 * and owned by the caller. 0, or a code with the reason in *err. */
int dump_dir(const char *given, const char *user, char **path, struct jprof_error *err);
