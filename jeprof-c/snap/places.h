/* Paths as a process sees them: below its root, with all links on the way, and no link of /proc followed. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Handles (O_PATH) of the directories that a process's paths begin at; -1: none. */
struct places {
	int root, cwd;
};

/* What lies at a path, as who asks may use it. */
struct look {
	struct stat st;
	struct statvfs room; /* of its file system */
	bool may_write;      /* a directory: files may be made in it */
	char link[PATH_MAX]; /* a link's text; "" for all else */
};

/* An O_PATH descriptor of what lies at a path; with O_NOFOLLOW in `flags` of a link that is its last component. -1 with
 * errno set. */
int places_resolve(const struct places *places, const char *path, int flags);

/* What an O_PATH descriptor stands for, which is closed. 0, or -1 with errno set, also for a descriptor of -1. Nothing
 * is opened for reading. */
int look_handle(int handle, struct look *look);

/* Takes the handles of a process; root is -1 with errno set where it may not be had. One that works in a directory
 * that was removed has no cwd. */
void places_open(struct places *places, int pid);
void places_close(struct places *places);
