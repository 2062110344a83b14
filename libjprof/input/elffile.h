/* An open ELF file for its names: libelf's view of it beside our own. Nothing is opened. Only findnames.h and what is
 * behind it see a file so; tests/layers.sh knows them. */
#pragma once

#include <libelf.h>

#include "input/objfile.h"

struct jp_elffile {
	struct jp_objfile *object; /* NULL: no file */
	Elf *elf;
	Elf *debug;  /* its debug information, unpacked, as a file of its own; NULL: that in `elf` */
	void *image; /* that file */
};

/* See jp_objfile_borrow; *file stays as it was unless 0 is returned. */
int jp_elffile_borrow(int fd, const char *path, struct jp_elffile *file);
void jp_elffile_close(struct jp_elffile *file);

/* Before its debug information is read: unpacks it, where libdw should not. */
void jp_elffile_unpack(struct jp_elffile *file);

/* What libdw is given. */
Elf *jp_elffile_debug(const struct jp_elffile *file);

/* The contents of the first section of that name, as they stand in the file or as libdw unpacked them; NULL where there
 * are none. */
Elf_Data *jp_elffile_section(const struct jp_elffile *file, const char *name);

/* Whether dwz moved parts of its debug information out (.gnu_debugaltlink): libdw would open the file that it names by
 * itself, whatever that is, unless it was given one. */
bool jp_elffile_shares(const struct jp_elffile *file);
