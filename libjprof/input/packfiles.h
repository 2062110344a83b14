/* Which packs of names there are, and which of them are of an object file. */
#pragma once

#include "input/namepack.h"
#include "input/namerequest.h"

struct jp_packfile {
	const char *path;                      /* of what is in the program the name of the file that it was */
	const struct jp_builtin_pack *builtin; /* NULL: it is a file */
	struct jp_namepack_label label;
};

/* Packs that were found. All zero is empty; so is one without any. */
struct jp_packfiles {
	struct jp_packfile *items; /* in the order in which they were added */
	size_t count, cap;
	struct jp_arena arena;
	const struct jprof_notice *notice; /* is called for each that is opened; NULL: nobody */
	struct jp_strbuf refused;          /* what is no pack, and why; parted by "; " */
};

/* Adds those of `files`, a comma-separated list: each must be a sound pack. A code, with *err set. */
int jp_packfiles_add(struct jp_packfiles *packs, const char *files, struct jprof_error *err) jp_must_check;

/* Adds the files NAME.jnames in these directories, a comma-separated list, by name; the first 256 of each. A directory
 * that is not there has none, and what is no pack is refused. Those in the program itself come last, unless `dirs` is
 * NULL. -1 when memory is short. */
int jp_packfiles_scan(struct jp_packfiles *packs, const char *dirs) jp_must_check;

/* Opens those of that soname and machine, `jp_most_packs` at most. Their number; files[i].fd is to be closed. */
size_t jp_packfiles_open(const struct jp_packfiles *packs, unsigned machine, const char *soname,
                         struct jp_open_file files[static jp_most_packs]);

void jp_packfiles_release(struct jp_packfiles *packs);
