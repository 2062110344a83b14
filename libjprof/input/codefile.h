/* The code of an ELF file as the fingerprints of its functions need it: where each function is, and by what names it
 * knows the places that it refers to. */
#pragma once

#include "base/macros.h"
#include "base/reader.h"
#include "input/codeimage.h"

/* A symbol of a function. */
struct jp_codesymbol {
	uint64_t value; /* first, for jp_count_below */
	const char *name;
	unsigned rank; /* of several at one place: lower is better */
	bool local, empty;
};

struct jp_codefile {
	const struct jp_objfile *object;
	struct jp_arena arena;
	struct jp_codeimage code;
	const struct jp_function_bounds *functions; /* of that; linkers' own code is none */
	size_t function_count;
};

/* Reads it; `object` outlives the result. 0, or -1 when memory is short. Released either way. */
int jp_codefile_read(const struct jp_objfile *object, struct jp_codefile *file) jp_must_check;
void jp_codefile_release(struct jp_codefile *file);

/* Which function begins there, or holds it; SIZE_MAX: none. */
size_t jp_codefile_function(const struct jp_codefile *file, uint64_t vaddr);

/* What a reference to that address means by name, the same in any build: the symbol that a slot or a stub of the
 * linker's stands for, or the text of a string. Length 0: nothing. */
struct jp_span jp_codefile_meaning(const struct jp_codefile *file, uint64_t vaddr);

/* The functions that a table of symbols (SHT_SYMTAB or SHT_DYNSYM) of `object` defines, by address and rank, in
 * `arena`. 0, or -1 when memory is short. */
int jp_codesymbols_read(const struct jp_objfile *object, uint32_t type, struct jp_arena *arena,
                        struct jp_codesymbol **symbols, size_t *count) jp_must_check;

/* The name by which the file is loaded, in `arena`: DT_SONAME, or where it has none the name of the file without its
 * directory.
 * "" where that cannot be read, NULL when memory is short. */
const char *jp_codefile_soname(const struct jp_objfile *object, struct jp_arena *arena);
