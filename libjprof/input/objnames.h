/* The names of addresses in an object file, by whatever tells them: DWARF in it or elsewhere, symbol tables,
 * MiniDebugInfo, .eh_frame. */
#ifndef JP_INPUT_OBJNAMES_H
#define JP_INPUT_OBJNAMES_H

#include "input/debugfile.h"
#include "input/lookup.h"

/* Hangs on the object file and lives as long. */
struct jp_objnames {
	struct jp_debugfiles debug;
	struct jp_minidebug *mini; /* its .gnu_debugdata, or NULL */
	struct jp_symtab *symtab;
	struct jp_ehframe *ehframe;
	bool loaded; /* all of them were looked for */
};

/* Answers lookups, which are sorted by vaddr and new. `where` tells where separate debug
 * files may be. 0, or -1 when memory is short. */
int jp_objfile_symbolize(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_lookup *lookups,
                         size_t count);

/* Bounds [start, end) of the function that holds `vaddr`: those of its symbol, else of its description in .eh_frame.
 * False where neither is known. After jp_objfile_symbolize. */
bool jp_objfile_function(const struct jp_objfile *file, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The name of the function that begins there, or NULL. After jp_objfile_symbolize. */
const char *jp_objfile_symbol_at(const struct jp_objfile *file, uint64_t vaddr);

/* The shortest name of a function in the symbol tables that ends in `word`, or NULL. */
const char *jp_objfile_symbol_ending(const struct jp_objfile *file, const char *word);

/* Whether the file defines the function `name` for others. After jp_objfile_symbolize. */
bool jp_objfile_exports(const struct jp_objfile *file, const char *name);

#endif
