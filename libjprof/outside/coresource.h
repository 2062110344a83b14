/* The memory of a process in its core, as the kernel or gdb wrote it: an ELF file with a segment for each mapping, and
 * notes with the threads' registers and the names of mapped files (System V ABI, chapter 5; NT_FILE of the kernel's
 * fs/binfmt_elf.c). The kernel leaves holes in the file for pages that were never touched. In a file without holes, as
 * gdb's are, a page of zeros counts as one. */
#pragma once

#include "base/strbuf.h"
#include "outside/memsource.h"

struct jp_core_facts {
	int pid;          /* 0: not known */
	char name[16];    /* of the program, as /proc/PID/comm has it; "" */
	int64_t time;     /* when the file was written */
	uint64_t missing; /* bytes that its headers have, and the file does not: it was cut */
	uint64_t memory;  /* bytes of pages that were touched; without holes, of those that are not all zeros */
	bool holes;       /* what was never touched is a hole in the file */
};

/* Everything in it is read as hostile. JPROF_E_FORMAT: it is no core; JPROF_E_UNSUPPORTED: one of a kind that is not
 * read. To be closed. */
int jp_coresource_open(const char *path, struct jp_memsource **source, struct jp_core_facts *facts,
                       struct jprof_error *err);

/* Adds the text that /proc/PID/maps would have had, and that of smaps, as far as a core tells: jemalloc's mappings,
 * which `is_malloc` knows, have no reserve. */
void jp_coresource_smaps(struct jp_memsource *core, bool (*is_malloc)(void *context, const struct jprof_map *map),
                         void *context, struct jp_strbuf *maps, struct jp_strbuf *smaps);
