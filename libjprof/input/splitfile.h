/* Opens the .dwo files that skeleton units name, by these rules: NAME in the directory of the file with the skeleton,
 * then in the directory of the compilation, then FILE.dwp beside the file. All three are looked at as paths of the
 * host; what is no regular file, or lies outside the file's root, is not opened, nor are then the others. */
#ifndef JP_INPUT_SPLITFILE_H
#define JP_INPUT_SPLITFILE_H

#include "input/namereply.h"
#include "input/namerequest.h"
#include "input/objfile.h"

struct jp_split_descriptor {
	int fd;
	dev_t dev;
	ino_t ino;
};

/* What was wanted so far, and what was found. All zero: nothing. */
struct jp_split_files {
	struct jp_split_answer *answers;
	size_t count, cap;
	struct jp_split_descriptor *open; /* each file once */
	size_t open_count, open_cap;
	struct jp_arena arena; /* texts */
};

/* Adds the answer to a want of `holder`, the file with the skeleton. 0; -1 when memory is short; 1 and no answer where
 * no descriptor is free, but others of these files are open, which may be closed first. */
int jp_split_files_open(struct jp_split_files *files, const struct jp_objfile *holder,
                        const struct jp_reply_want *want);

/* Adds the answer that nothing is opened any more. */
int jp_split_files_refuse(struct jp_split_files *files, const struct jp_reply_want *want, const char *why);

/* Closes all, and leaves it empty. */
void jp_split_files_release(struct jp_split_files *files);

#endif
