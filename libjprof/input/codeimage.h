/* An ELF file as machine/image.h wants it: its code and data by address, what the loader relocates, its dynamic
 * symbols, its functions by .eh_frame. Of 64 bits and little-endian, x86-64 or AArch64; of another, and of one without
 * section headers, there is nothing. */
#pragma once

#include "input/objfile.h"
#include "machine/image.h"

struct jp_codeimage {
	struct jp_image image;
	char *strings; /* of symbols */
	size_t piece_cap, reloc_cap;
};

/* Reads it. What lies outside the file, or is damaged, is left out; of a file with more than 512 MiB of contents all
 * is. 0, or -1 when memory is short; released either way. */
int jp_codeimage_read(const struct jp_objfile *file, struct jp_codeimage *code);

void jp_codeimage_release(struct jp_codeimage *code);
