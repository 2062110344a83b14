/* Opening files. Two kinds of path: one that the user gave, which may be a pipe, and one that a
 * dump named, which nobody vouches for. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/strbuf.h"
#include "jprof.h"

/* Reads all of a file or pipe that the user named; "-" is standard input. `st` may be NULL. */
int jp_file_read(const char *path, struct jp_strbuf *out, struct stat *st, struct jprof_error *err);

/* The same of a kind that has `most` bytes: a larger one is not meant, and refused, before it is read if that can be
 * known. */
int jp_file_read_most(const char *path, size_t most, struct jp_strbuf *out, struct jprof_error *err);

/* Opens a file or pipe that the user named, for reading; "-" is standard input. */
int jp_file_open(const char *path, int *fd, struct stat *st, struct jprof_error *err);

/* Files that may be there, and could not be opened or read: descriptors had run out, or a disk failed. */
struct jp_unread {
	size_t count;
	char path[512], why[128]; /* the first file; cut if they are longer */
};

/* `why` is words, as jp_file_why has them. `unread` may be NULL: nobody counts. */
void jp_unread_add(struct jp_unread *unread, const char *path, const char *why);

/* Below what paths are resolved. All zero: they are taken as they are. */
struct jp_root {
	const char *path;                  /* a directory; NULL: none */
	const struct jprof_opener *opener; /* opens what lies below it; NULL: the caller does */
	bool mapped;                       /* paths are those of /proc/PID/map_files: for the opener their end */
	const struct jprof_notice *notice; /* is called for each file that was opened; NULL: nobody */
	struct jp_unread *unread;          /* has the object files that could not be read; NULL: nobody asks */
};

/* Opens a regular file that a dump named, for reading, and tells its status. Anything else
 * (FIFO, device, directory) is never opened, only looked at. With a root the path and
 * all symbolic links on its way, absolute ones too, are resolved below that directory.
 * Returns a descriptor, or -1 with errno set (EINVAL: not a regular file). */
int jp_file_open_untrusted(struct jp_root root, const char *path, struct stat *st);

/* Whether opening fails with that errno as long as the file system is as it is: nothing is there, or nothing that the
 * caller may open and can use. */
bool jp_file_is_absent(int error);

/* What an errno of opening or reading means, in words. */
const char *jp_file_why(int error);

/* An O_PATH descriptor of whatever lies at `path` with all links resolved below the directory `root`; -1 with
 * errno set. Nothing is opened for reading, and no FIFO or device is touched. */
int jp_file_handle_below(const char *root, const char *path);

/* The path, all links resolved, of an open file as seen below `root`. False if it has
 * none there. `path` has PATH_MAX bytes. */
bool jp_file_real_path(int fd, struct jp_root root, char *path);

/* A directory at `path` itself, no link; a file in such a directory, no link, and "." is itself; a new file there, for
 * writing, which nobody else may read or write. -1 with errno set. */
int jp_file_open_directory(const char *path);
int jp_file_open_in(int dir, const char *name);
int jp_file_make_in(int dir, const char *name);

/* Opens for reading what a descriptor stands for: no path is resolved a second time. -1 with errno. */
int jp_file_reopen(int handle);

/* The same without a name, so that it goes with the process, and its name, if that is free. -1 with errno set: not
 * every file system can. */
int jp_file_make_nameless(int dir);
int jp_file_name_in(int fd, int dir, const char *name);

/* A file in memory, and nobody changes it any more. 0 or a descriptor; -1 with errno set. */
int jp_file_make_memory(void);
int jp_file_seal(int fd);

/* errno stays what it was. */
void jp_file_close(int *fd);

/* Takes the next path off a comma-separated list, which may be NULL: false at its end. What is empty, or longer than a
 * path may be, is passed over. */
bool jp_path_next(const char **list, char path[static PATH_MAX]);

/* The names, one after the other, that a file beside a dump may have: FILE with the suffix, then, where FILE ends as
 * compressed files do, the same without that ending. *at is 0 at first. False: no more; none for "-". *name is to be
 * freed, and NULL when memory is short. */
bool jp_name_beside(const char *path, const char *suffix, size_t *at, char **name);
