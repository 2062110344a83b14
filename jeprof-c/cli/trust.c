#include "cli/trust.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shortage.h"

static bool is_trusted_owner(const struct stat *st)
{
	mode_t others = S_IWOTH | (st->st_gid == geteuid() ? 0 : S_IWGRP);
	bool open_to_all = st->st_mode & others && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !open_to_all;
}

/* The path is absolute, and has no links. */
static bool all_ours(const char *path)
{
	char *dir = shortage_note(strdup(path));
	struct stat st;
	bool good = dir && !lstat(dir, &st) && S_ISREG(st.st_mode) && is_trusted_owner(&st);
	for (char *slash = good ? strrchr(dir, '/') : NULL; slash && good; slash = strrchr(dir, '/')) {
		*slash = '\0';
		good = !lstat(*dir ? dir : "/", &st) && is_trusted_owner(&st);
	}
	free(dir);
	return good;
}

char *trusted_path(const char *path)
{
	char *real = shortage_note(realpath(path, NULL));
	if (real && all_ours(real))
		return real;
	free(real);
	return NULL;
}
