/* The files of a tar archive in memory: POSIX ustar, and the long names of GNU's tar and of pax. */
#ifndef JP_BUNDLE_TAR_H
#define JP_BUNDLE_TAR_H

#include <stdbool.h>
#include <stddef.h>

struct jp_tar {
	const char *data;
	size_t len, pos;
	char long_name[256]; /* of the next file; "": its header has the name */
};

struct jp_tar_entry {
	char path[256]; /* "": longer than that */
	const char *data;
	size_t len;
	bool file; /* a regular one */
	bool cut;  /* the archive ends within it */
};

enum jp_tar_result { JP_TAR_ENTRY, JP_TAR_END, JP_TAR_DAMAGED };

/* The next entry; what it points to is a part of tar->data. */
enum jp_tar_result jp_tar_next(struct jp_tar *tar, struct jp_tar_entry *entry);

#endif
