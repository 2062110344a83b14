/* Source files and lines of one compile unit, with full paths. */
#pragma once

#include <elfutils/libdw.h>

#include "base/arena.h"

struct jp_dwarf_source {
	struct jp_arena *arena;
	Dwarf_Die unit;
	Dwarf_Die skeleton; /* of a unit from a .dwo file, which has its lines; else the unit */
	Dwarf_Files *files;
	const char *path, *full; /* the last that was made full, and what it became */
	bool failed;             /* memory was short */
};

/* Begins a unit. Paths are from `arena`, or from the debug information. */
struct jp_dwarf_source jp_dwarf_source_of(struct jp_arena *arena, const Dwarf_Die *unit, const Dwarf_Die *skeleton);

/* A number that an attribute of the DIE itself has; 0: it has none. */
unsigned jp_dwarf_number(Dwarf_Die *die, unsigned name);

/* The file that DW_AT_call_file or DW_AT_decl_file of the DIE names; NULL: none. */
const char *jp_dwarf_source_file(struct jp_dwarf_source *source, Dwarf_Die *die, unsigned name);

/* The line of an address; NULL and 0 where it is not known. */
void jp_dwarf_source_line(struct jp_dwarf_source *source, uint64_t vaddr, const char **file, unsigned *line);
