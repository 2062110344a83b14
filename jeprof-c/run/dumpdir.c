#include "run/dumpdir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"

static bool make_dumpdir(const char *dir, mode_t mode)
{
	if (!mkdir(dir, mode) || errno == EEXIST)
		return true;
	say("%s: cannot be made: %s; give another directory with --dir=DIR", dir, strerror(errno));
	return false;
}

static bool can_dump_here(const char *dir)
{
	struct stat st;
	int error = stat(dir, &st) ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : access(dir, W_OK | X_OK) ? errno : 0;
	if (error)
		say("%s: no dump can be written there: %s; give another directory with --dir=DIR", dir,
		    strerror(error));
	return !error;
}

/* In a directory that is everybody's the name may be taken by somebody else. */
static bool is_private(const char *dir)
{
	struct stat st;
	if (!lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	say("%s: is not yours alone, so no dump goes there; remove it or give another directory with --dir=DIR", dir);
	return false;
}

char *dump_dir(const char *given)
{
	const char *tmp = getenv("TMPDIR");
	char own[4096];
	snprintf(own, sizeof own, "%s/jprof-%lu", tmp && *tmp == '/' ? tmp : "/tmp", (unsigned long)geteuid());
	const char *dir = given ? given : own;
	if (!make_dumpdir(dir, given ? 0777 : 0700) || (!given && !is_private(dir)) || !can_dump_here(dir))
		return NULL;
	char *path = realpath(dir, NULL);
	if (!path) {
		say("%s: %s", dir, strerror(errno));
	} else if (strchr(path, ',')) {
		say("%s: MALLOC_CONF cannot hold a path with a comma; give another directory with --dir=DIR", path);
		free(path);
		path = NULL;
	}
	return path;
}
