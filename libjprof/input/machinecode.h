/* What in a function's machine code the linker, or the length of other functions, decides: the places where it refers
 * to something by its distance. Each is a reference; the rest of the bytes is the function's content. For x86-64 and
 * AArch64, by tables of our own: no instruction is understood beyond its length and its reference. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/* A place in the code that refers to another. */
struct jp_code_ref {
	uint32_t at;     /* where its instruction begins, in bytes from the function's start */
	bool branch;     /* a call or a jump: that is where it leads; else it is an address of anything */
	uint64_t target; /* image-relative address */
};

struct jp_code_refs {
	struct jp_code_ref *items;
	size_t count, cap;
};

/* Reads the code of one function, `len` bytes that lie at `vaddr`. What refers to a place outside of it, or to data, is
 * set to zero in `code` and added to `refs`; jumps inside of it stay. 1; 0 where it is no code that can be read to its
 * end, `code` and `refs` are then of no use; -1 when memory is short. `machine` is ELF's e_machine. */
int jp_machinecode_split(unsigned machine, unsigned char *code, size_t len, uint64_t vaddr,
                         struct jp_code_refs *refs) jp_must_check;
