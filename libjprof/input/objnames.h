/* What names places in an object file: DWARF in it or in its debug file, symbol tables, MiniDebugInfo, .eh_frame. Of
 * open files: nothing here opens one. */
#pragma once

#include "input/elffile.h"
#include "input/lookup.h"
#include "input/namereply.h"
#include "input/namerequest.h"

struct jp_objnames {
	struct jp_elffile object, debug, shared; /* there may be none of the latter two */
	struct jp_dwarf *dwarf;                  /* NULL: none that can be used */
	enum jp_dwarf_state state;
	struct jp_splits *splits;
	struct jp_minidebug *mini; /* .gnu_debugdata of the object file, or NULL */
	struct jp_symtab *symtab;  /* these two are NULL until something is looked up */
	struct jp_ehframe *ehframe;
	struct jp_codenames *codenames; /* NULL until a function has no other name */
	struct jp_open_file packs[jp_most_packs];
	size_t pack_count;
	struct jp_packnames *packnames; /* NULL until a function has no other name */
};

/* Opens what the request gives, whose descriptors outlive it. What cannot be used is remarked on names->object.
 * JPROF_E_FORMAT if the object file is none; JPROF_E_NOMEM. */
int jp_objnames_open(const struct jp_name_request *request, struct jp_objnames **names);
void jp_objnames_close(struct jp_objnames *names);

/* Answers lookups, which are sorted by vaddr and new; those that a .dwo file comes first for are pending. What they get
 * lives as long as `names`. 0, or -1 when memory is short. */
int jp_objnames_lookup(struct jp_objnames *names, struct jp_lookup *lookups, size_t count);

/* Bounds [start, end) of the function that holds `vaddr`: those of its symbol, else of its description in .eh_frame.
 * False where neither is known. After jp_objnames_lookup, as are the following. */
bool jp_objnames_function(const struct jp_objnames *names, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The shortest name of a function in the symbol tables that ends in `word`, or NULL. */
const char *jp_objnames_symbol_ending(const struct jp_objnames *names, const char *word);
