/* Functions, inlined functions, files and lines from DWARF, through libdw. */
#ifndef JP_INPUT_DWARF_H
#define JP_INPUT_DWARF_H

#include "input/objfile.h"

struct jp_dwarf;

/* Opens the debug information of a file; *dwarf becomes NULL if it has none that can be used.
 * 0, or -1 when memory is short. */
int jp_dwarf_new(const struct jp_objfile *file, struct jp_dwarf **dwarf);

/* Answers those of `lookups` (sorted by vaddr) that the debug information knows: frames from
 * `file->arena`, source JPROF_SOURCE_DWARF. Where it knows a line but no function, the one frame
 * has no name and the source stays as it was. Cost: one walk for each compile unit that holds an
 * address. 0, or -1 when memory is short. */
int jp_dwarf_lookup(struct jp_dwarf *dwarf, struct jp_objfile *file, struct jp_lookup *lookups, size_t count);

void jp_dwarf_free(struct jp_dwarf *dwarf);

#endif
