/* Addresses of functions in a .dwo file. They stand in tables of the file with the skeleton unit, which libdw only
 * finds when it opens the .dwo file itself; here both are open files. DWARF 5, sections 2.17.3, 7.27, 7.28; for DWARF 4
 * the GNU extension "DebugFission". */
#pragma once

#include <elfutils/libdw.h>

#include "base/reader.h"
#include "input/elffile.h"

struct jp_split_ranges {
	struct jp_bytes info;      /* .debug_info.dwo */
	struct jp_bytes addresses; /* .debug_addr of the skeleton's file */
	struct jp_bytes lists;     /* .debug_rnglists.dwo, or .debug_ranges of the skeleton's file */
	uint64_t first_address;    /* where the unit's addresses begin */
	uint64_t first_list;       /* what offsets of lists begin at */
	uint64_t first_index;      /* where the table of lists by number begins */
	uint64_t base;             /* of addresses in lists */
	unsigned version, address_size, offset_size;
};

/* For the unit `unit` of `split`, and its skeleton in `holder`. Both files outlive it. */
void jp_split_ranges_init(struct jp_split_ranges *ranges, const struct jp_elffile *holder, Dwarf_Die *skeleton,
                          const struct jp_elffile *split, Dwarf_Die *unit);

/* The ranges of a DIE one by one. */
struct jp_split_cursor {
	struct jp_bytes list;
	uint64_t base;
	bool begun, done;
};

/* The next range of `die`, from a cursor of zeros on; false after the last, and where the rest is damaged. */
bool jp_split_range_next(const struct jp_split_ranges *ranges, Dwarf_Die *die, struct jp_split_cursor *cursor,
                         struct jp_range *range);
