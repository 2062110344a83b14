#include "base/ours.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_safe(const struct stat *st)
{
	bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;
	bool own_group = st->st_gid == getegid() && st->st_gid == geteuid();
	bool others = st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !own_group);
	return (st->st_uid == 0 || st->st_uid == geteuid()) && (sticky || !others);
}

bool jp_path_is_ours(const char *real, struct stat *st)
{
	char dir[PATH_MAX];
	struct stat above;
	bool good =
	    snprintf(dir, sizeof dir, "%s", real) < PATH_MAX && !lstat(dir, st) && S_ISREG(st->st_mode) && is_safe(st);
	for (char *slash = good ? strrchr(dir, '/') : NULL; slash && good; slash = strrchr(dir, '/')) {
		*slash = '\0';
		good = !lstat(*dir ? dir : "/", &above) && is_safe(&above);
	}
	return good;
}

bool jp_file_is_ours(const char *path, uint64_t dev, uint64_t inode)
{
	struct stat st;
	char *real = realpath(path, NULL);
	bool good = real && jp_path_is_ours(real, &st) && st.st_dev == dev && st.st_ino == inode;
	free(real);
	return good;
}

static bool is_of_caller(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

bool jp_file_same_owner(const struct stat *file, const struct stat *other)
{
	return file->st_uid == other->st_uid || (is_of_caller(file) && is_of_caller(other));
}
