/* Files below a directory that somebody else filled: no link leads out of it, and none of /proc is followed. */
#pragma once

/* An O_PATH descriptor of what lies at a path below the directory `base`, which is the root of all links; with
 * O_NOFOLLOW in `flags` of a link that is its last component. -1 with errno set. */
int rootpath_resolve(int base, const char *path, int flags);

/* The same, opened for reading: a regular file or a directory, and nothing else; -1: there is none. */
int rootpath_open(int root, const char *path);
