/* Functions, inlined functions, files and lines from DWARF, through libdw. */
#pragma once

#include "input/elffile.h"
#include "input/lookup.h"
#include "input/splitunit.h"

struct jp_dwarf;

/* Opens the debug information in `holder`, which is `file` or its debug file; *dwarf becomes NULL if it has
 * none or none that can be read. Why it cannot be read is remarked on `file`. Both must outlive it.
 * 0, or -1 when memory is short. */
int jp_dwarf_new(struct jp_objfile *file, const struct jp_elffile *holder, struct jp_dwarf **dwarf);

/* Says where the part is that dwz moved into a file that several share. The file must outlive `dwarf`. 0, or -1 if it
 * cannot be used. */
int jp_dwarf_set_shared(struct jp_dwarf *dwarf, const struct jp_elffile *shared);

/* Answers those of `lookups` (sorted by vaddr) that the debug information knows: frames from
 * `file->arena`, source JPROF_SOURCE_DWARF; their texts live as long as `dwarf` and `splits`. Where it knows a line but
 * no function, the one frame has no name and the source stays as it was. Cost: one walk for each compile unit that
 * holds an address. Where a unit's functions are in a .dwo file that `splits` has not, it says so, and the unit's
 * addresses are pending if that file may still be given. 0, or -1 when memory is short. */
int jp_dwarf_lookup(struct jp_dwarf *dwarf, struct jp_objfile *file, struct jp_splits *splits,
                    struct jp_lookup *lookups, size_t count);

void jp_dwarf_free(struct jp_dwarf *dwarf);
