/* A directory that only this user can write, with files that several processes replace there, each as a whole: what may
 * be lost at any time, and is read as anybody's. Files that somebody else put there are left alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/strbuf.h"

/* The directory at `path`, no link; with `make` it is made if it is not there, and those above it where the first that
 * is there belongs to the user, or is one like /tmp. A descriptor, or -1 with errno set: EPERM where it belongs to
 * somebody else or others can write it. */
int jp_ourdir_open(const char *path, bool make);

/* Adds all of the file to `out`: if it is the user's, nobody else can write it, and it has no more than `most` bytes.
 * Notes that it was used, for jp_ourdir_trim. False where there is none; out->failed where memory is short. */
bool jp_ourdir_read(int dir, const char *name, size_t most, struct jp_strbuf *out);

/* Puts a file there, in place of an older one: others see the one or the other, whatever ends this process. False
 * where that cannot be. */
bool jp_ourdir_write(int dir, const char *name, const void *data, size_t len);

struct jp_ourdir_sum {
	uint64_t files, bytes;
};

/* Whether the file of that name, which begins with no dot, is one that the caller has written there. */
typedef bool jp_ourdir_own(int dir, const char *name);

/* How many such files there are, and how large they are together. False with errno set. */
bool jp_ourdir_measure(int dir, jp_ourdir_own *is_own, struct jp_ourdir_sum *sum);

/* Removes those of them that were used longest ago, until the others have `most` bytes at most; and what processes that
 * were killed while they wrote have left. *removed is what was removed. False with errno set. */
bool jp_ourdir_trim(int dir, jp_ourdir_own *is_own, uint64_t most, struct jp_ourdir_sum *removed);
