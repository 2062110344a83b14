/* Opens the .dwo files that skeleton units name, by these rules: NAME in the directory of the file with the skeleton,
 * then in the directory of the compilation, then FILE.dwp beside the file. All three are looked at as paths of the
 * host; what is no regular file, lies outside the file's root, or belongs to another user, is not opened, nor are then
 * the others.
 *
 * The names come from who reads debug information, and nobody vouches for that. So a file is given only for what our
 * own reading of headers shows (splitids.h):
 *
 *   - Where the ids of all skeletons are known, the unit's is one of them.
 *   - The file has split debug information, and where the ids of its units are known, that unit's is one of them.
 *   - Where both are known the file itself is given, else a copy with nothing but its split debug information.
 *   - Where not both are known, a path that is absolute or has ".." lies in the directory of the compilation. */
#pragma once

#include "input/namereply.h"
#include "input/namerequest.h"
#include "input/objfile.h"
#include "input/splitids.h"

/* A file that was opened. */
struct jp_split_descriptor {
	int fd; /* what is given; -1: nothing */
	dev_t dev;
	ino_t ino;
	struct jp_split_ids ids; /* of its units */
	bool package;
	const char *why; /* nothing is given, or NULL */
};

/* What was wanted so far, and what was found. All zero: nothing. */
struct jp_split_files {
	struct jp_split_answer *answers;
	size_t count, cap;
	struct jp_split_descriptor *open; /* each file once */
	size_t open_count, open_cap;
	struct jp_split_ids skeletons; /* of the holder */
	bool looked;                   /* at those */
	uint64_t copied;               /* bytes in memory */
	struct jp_arena arena;         /* texts */
};

/* Adds the answer to a want of `holder`, the file with the skeleton. 0; -1 when memory is short; 1 and no answer where
 * no descriptor or no memory for a copy is free, but others of these files are open, which may be closed first. */
int jp_split_files_open(struct jp_split_files *files, const struct jp_objfile *holder,
                        const struct jp_reply_want *want);

/* Adds the answer that nothing is opened any more. */
int jp_split_files_refuse(struct jp_split_files *files, const struct jp_reply_want *want, const char *why);

/* Closes all, and leaves it empty. */
void jp_split_files_release(struct jp_split_files *files);
