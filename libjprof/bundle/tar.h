/* The files of a tar archive in memory: POSIX ustar, and the long names of GNU's tar and of pax. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { jp_tar_path_room = 256 };

/* What entries before it say of the next file. */
struct jp_tar_described {
	bool named; /* by `path`, not by its header */
	bool sized;
	bool sparse; /* what follows is not the file as it was */
	char path[jp_tar_path_room];
	uint64_t size;
};

struct jp_tar {
	const char *data;
	size_t len, pos;
	struct jp_tar_described next;
};

struct jp_tar_entry {
	char path[jp_tar_path_room]; /* "": longer than that */
	const char *data;
	size_t len;
	bool file; /* a regular one, and no sparse one */
	bool cut;  /* the archive ends within it */
};

enum jp_tar_result { JP_TAR_ENTRY, JP_TAR_END, JP_TAR_DAMAGED };

/* The next entry; what it points to is a part of tar->data. */
enum jp_tar_result jp_tar_next(struct jp_tar *tar, struct jp_tar_entry *entry);
