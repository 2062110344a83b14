/* A copy of a .dwo file, in memory, that has its split debug information and nothing else. */
#pragma once

#include "input/elfheaders.h"

/* Whether the section is one of those: .debug_*.dwo and the indexes of a package. */
bool jp_split_section(const struct jp_elf_section *section);

/* What these take, in bytes. */
uint64_t jp_split_size(const struct jp_elf_headers *headers);

/* An ELF file with these alone, as they are, that nobody can change: a descriptor to be closed; -1 with errno set. It
 * takes as much memory as they do. */
int jp_split_copy(int fd, const struct jp_elf_headers *headers);
