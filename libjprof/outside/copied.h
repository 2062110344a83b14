/* What a process and its parent no longer share since the fork: pages that either has changed, and by the words that
 * differ what was changed there. pagemap: bit 56 of the kernel's Documentation/admin-guide/mm/pagemap.rst. */
#pragma once

#include "jprof-live.h"
#include "outside/rubysymbols.h"

/* Adds what was copied to *copies, or makes it. 0, -1 when memory is short. */
int jp_copies_find(struct jp_memsource *process, struct jp_memsource *parent, const struct jp_mapped_files *files,
                   struct jprof_copies **copies) jp_must_check;
