/* Which units a file has by the headers of its units, or the index of its package: read without libdw, so that who
 * opens .dwo files believes nobody. DWARF 5, sections 7.5.1 and 7.3.5.3; before DWARF 5 the headers of units have no
 * id. */
#pragma once

#include "input/elfheaders.h"

struct jp_split_ids {
	uint64_t *ids; /* ascending */
	size_t count, cap;
	bool known; /* these are all; else nobody can tell: the units are of DWARF 4, packed, damaged, or there are none
	             */
};

/* All zero before. Of the skeletons in .debug_info; of the units in .debug_info.dwo; of the package whose index is
 * .debug_cu_index, which has those of DWARF 4, too. -1 when memory is short. */
int jp_split_ids_of_skeletons(int fd, const struct jp_elf_headers *headers, struct jp_split_ids *ids) jp_must_check;
int jp_split_ids_of_units(int fd, const struct jp_elf_headers *headers, struct jp_split_ids *ids) jp_must_check;
int jp_split_ids_of_package(int fd, const struct jp_elf_headers *headers, struct jp_split_ids *ids) jp_must_check;

/* Whether it is among them. */
bool jp_split_ids_have(const struct jp_split_ids *ids, uint64_t id);

void jp_split_ids_release(struct jp_split_ids *ids);
