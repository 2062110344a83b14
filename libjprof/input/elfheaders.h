/* The headers of an ELF file, read by a bounded reader of our own: enough to decide which file it is. libelf and libdw
 * see a file only where its names are found (elffile.h). Format: System V ABI, chapter 4; <elf.h> has the numbers. */
#pragma once

#include <elf.h>

#include "base/arena.h"
#include "base/reader.h"
#include "base/strbuf.h"
#include "jprof.h"

struct jp_elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, file_size, mem_size, align;
	bool code; /* PT_LOAD, and executable */
};

struct jp_elf_section {
	const char *name; /* "" where it has none */
	uint32_t type, link;
	uint64_t flags, address, offset, size, align;
};

struct jp_elf_headers {
	unsigned type, machine; /* e_type, e_machine */
	unsigned bits;          /* 32 or 64 */
	bool big_endian;
	struct jp_elf_segment *segments;
	size_t segment_count;
	struct jp_elf_section *sections; /* none where their table lies outside the file */
	size_t section_count;
};

/* Reads them from an open regular file; what is in `headers` lives in `arena`. Each table has
 * 8 MiB at most in the file. JPROF_E_FORMAT: no ELF file, or a damaged one; JPROF_E_IO: what it has cannot be read;
 * `path` is what the error calls it. */
int jp_elf_headers_read(int fd, const char *path, struct jp_arena *arena, struct jp_elf_headers *headers,
                        struct jprof_error *err);

/* The first section with that name (NULL: any) of that type (SHT_NULL: any that has contents in the file); NULL: none.
 */
const struct jp_elf_section *jp_elf_section_find(const struct jp_elf_headers *headers, const char *name, uint32_t type);

/* The section with the strings or the symbols of another; NULL: there is none, or no other. */
const struct jp_elf_section *jp_elf_section_linked(const struct jp_elf_headers *headers,
                                                   const struct jp_elf_section *section);

/* Reads `len` bytes at `offset`; false where the file has not so many. */
bool jp_elf_read_at(int fd, uint64_t offset, void *bytes, size_t len);

/* The first `most` bytes of a section, or less if it has less, into `out`. False where it has none in the file; else
 * `bytes` is over `out` in the file's byte order. When memory is short that is empty, and out->failed is set. */
bool jp_elf_section_read(int fd, const struct jp_elf_headers *headers, const struct jp_elf_section *section,
                         size_t most, struct jp_strbuf *out, struct jp_bytes *bytes);

/* The build-id in hex; "" if there is none. Of the first note of that kind in a section of notes, or, without section
 * headers, in a segment of notes. JPROF_E_NOMEM; JPROF_E_IO with errno set: what the file has cannot be read. */
int jp_elf_build_id(int fd, const struct jp_elf_headers *headers, char id[static 2 * 64 + 1]);

/* The same among the bytes of a segment of notes of that alignment; false: it has none. */
bool jp_elf_id_among_notes(struct jp_bytes notes, uint64_t align, char id[static 2 * 64 + 1]);
