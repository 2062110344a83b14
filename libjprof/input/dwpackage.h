/* DWARF packages (.dwp), in which the .dwo files of a program are one: dwpackage_lib.c with a libdw that reads them
 * (0.192), or dwpackage_none.c. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Whether this libdw reads them. */
bool jp_dwpackage_readable(void);

/* Where the unit's range lists (.debug_rnglists.dwo) begin: 0 outside of a package. False if that is not known. */
bool jp_dwpackage_lists(Dwarf_CU *unit, uint64_t *offset);
