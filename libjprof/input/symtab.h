/* The symbol tables of an ELF file: which function holds an address. */
#pragma once

#include <libelf.h>

#include "jprof.h"

struct jp_symtab;

struct jp_symbol {
	uint64_t value;
	uint64_t size;
	const char *name;
	enum jprof_source source;
	unsigned char rank; /* among symbols of one place: lower is better */
};

/* Reads .symtab and .dynsym of `elf`, and of `debug` if not NULL. Names live as long as those.
 * NULL when memory is short. */
struct jp_symtab *jp_symtab_new(Elf *elf, Elf *debug);

/* The function whose [value, value+size) holds `vaddr`, the innermost if several do. A symbol of
 * size 0 holds what follows it up to the next symbol, its section's end, and the end of the
 * function that .eh_frame knows there, [fde_start, fde_end), if that is not empty. */
const struct jp_symbol *jp_symtab_find(const struct jp_symtab *symtab, uint64_t vaddr, uint64_t fde_start,
                                       uint64_t fde_end);

/* Whether .dynsym defines the function `name`. */
bool jp_symtab_exports(const struct jp_symtab *symtab, const char *name);

/* The i-th function symbol by address, or NULL after the last. */
const struct jp_symbol *jp_symtab_at(const struct jp_symtab *symtab, size_t i);

void jp_symtab_free(struct jp_symtab *symtab);
