/* A new file that is there whole or not at all, in place of another only where that is asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it is closed. */
struct newfile {
	char *path; /* what it will be called; NULL: closed */
	char *part; /* what it is called until then; NULL: it has no name */
	int fd;     /* open for writing while path is not NULL */
	int error;  /* errno of the first write that failed */
};

/* Begins a file that will be `path`: in the same directory, without a name, so that nothing is left when the process
 * is killed. Where the file system cannot do that it is called .NAME.RANDOM.jprof-part and locked; what is not
 * locked any more under such a name of the same NAME was left by a process that was killed, and is removed. A `path`
 * that exists is refused. False after having said what is wrong. */
bool newfile_open(struct newfile *file, const char *path);

/* The same, but a `path` that exists is refused only when the file gets its name. */
bool newfile_make(struct newfile *file, const char *path);

/* Has the signature of jprof_write_fn; `context` is the struct newfile. While the file has a part's name, and a signal
 * that would end the program waits (cli/ending.h), nothing more is written: an error of EINTR, of which nothing is
 * said. */
int newfile_write(void *context, const void *data, size_t len);

/* Has what was written so far reach the disk, which may take its time; giving the name does not then. */
void newfile_sync(struct newfile *file);

/* Gives the file its name. False after having said what is wrong, also when a write failed before or somebody has
 * made a file of that name meanwhile; then nothing is left. */
bool newfile_commit(struct newfile *file);

/* The same, but where a file of that name was made meanwhile, `next` is asked for another path in the same
 * directory, in memory that is freed here; NULL, after having said why, if there is none. *path gets what the file
 * is called now, for the caller to free. */
bool newfile_commit_as(struct newfile *file, char *(*next)(const void *), const void *context, char **path);

/* The two for who finds words himself, and may replace: newfile_begin does not ask whether there is such a file, and
 * newfile_replace gives the name by rename. They return an errno, or 0; newfile_replace leaves nothing but the old file
 * where it fails. While file->part is not NULL, the caller keeps signals that would end the program away
 * (cli/ending.h), lest a part is left. */
int newfile_begin(struct newfile *file, const char *path);
int newfile_replace(struct newfile *file);

/* For who is about to end the program on another thread: removes what it is called until then, and frees nothing. */
void newfile_forget(const struct newfile *file);

/* For a thread that ends the program whatever the others do: removes all that is called by a part's name, and lets no
 * more be made. */
void newfile_end_parts(void);

/* Takes it back, if it was not committed. A file that was closed or never opened (all zero) is fine. */
void newfile_abandon(struct newfile *file);
