/* An ELF file that code ran from: what it is, and whether it is the one that was mapped. The names of addresses in it:
 * asknames.h. */
#pragma once

#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "input/elfheaders.h"
#include "jprof.h"

struct jp_range {
	uint64_t start, end;
};

struct jp_objfile {
	struct jp_arena arena;
	char *path;
	struct jp_root root; /* see jp_file_open_untrusted; its path is owned */
	int fd;
	bool borrowed; /* the descriptor is the caller's */
	struct stat st;
	struct jp_elf_headers headers;
	struct jp_range *code; /* executable sections; none if the file has no section headers */
	size_t code_count;
	bool program; /* an executable, not a library */
	char build_id[2 * 64 + 1];
	struct jp_strbuf remarks; /* what of its debug information cannot be used, and why; parted by "; " */
};

/* Opens the ELF file at `path`, as untrusted: see jp_file_open_untrusted. */
int jp_objfile_open(struct jp_root root, const char *path, struct jp_objfile **file, struct jprof_error *err);

/* The same of an open file, for its names: nothing is opened, `fd` stays the caller's and outlives the result, and
 * st, build_id and root are left empty. `path` is what errors and remarks call it. */
int jp_objfile_borrow(int fd, const char *path, struct jp_objfile **file, struct jprof_error *err);

void jp_objfile_close(struct jp_objfile *file);
void jp_objfile_closed(struct jp_objfile **file); /* for jp_cleanup */

/* Image-relative address of a file offset, by the program headers; false if no code lies there. */
bool jp_objfile_vaddr(const struct jp_objfile *file, uint64_t offset, uint64_t *vaddr);

/* Whether an image-relative address lies in an executable section or, without section headers, segment. */
bool jp_objfile_is_code(const struct jp_objfile *file, uint64_t vaddr);

/* Whether the executable mapping [offset, offset+len) of a file fits this one's program headers. */
bool jp_objfile_fits(const struct jp_objfile *file, uint64_t start, uint64_t offset, uint64_t len);

/* Whether such a mapping is a part of one of its executable segments; then `whole` is the segment's, in offsets. */
bool jp_objfile_holds(const struct jp_objfile *file, uint64_t offset, uint64_t len, struct jp_range *whole);

/* Adds to file->remarks. */
void jp_objfile_remark(struct jp_objfile *file, const char *fmt, ...) jp_printf(2, 3);

/* Whether the file has a .symtab, with contents. */
bool jp_objfile_has_symtab(const struct jp_objfile *file);
