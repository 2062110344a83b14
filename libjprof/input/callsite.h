/* What the machine code around an address proves. Known for x86-64 and AArch64; elsewhere there
 * is simply no evidence. */
#pragma once

#include "input/objfile.h"

/* What the byte before a return address says. */
enum jp_callsite {
	JP_CALLSITE_UNKNOWN, /* no code bytes in the file, or another machine's */
	JP_CALLSITE_CALL,    /* a call ends there: the address fits this file */
	JP_CALLSITE_OTHER,   /* no call does: a call cannot have returned there */
};

/* Whether a call instruction ends right before the image-relative address `vaddr`. */
enum jp_callsite jp_callsite_check(const struct jp_objfile *file, uint64_t vaddr);

/* ELF's e_machine of the file. */
int jp_machine_of(const struct jp_objfile *file);

/* The bytes [vaddr, vaddr+len) of code as they stand in the file: false where the file has none. */
bool jp_read_code(const struct jp_objfile *file, uint64_t vaddr, unsigned char *bytes, size_t len);
