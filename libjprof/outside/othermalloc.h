/* The malloc of a process that has no jemalloc: glibc's, with the number of its arenas, or musl's. Sources:
 * malloc/arena.c and malloc/malloc.c of glibc 2.26 to 2.42: an arena but the main one begins in memory of its own, at a
 * multiple of 64 MB, with the record of that memory, { arena, previous, size, size that can be used }, and its own
 * behind it. */
#pragma once

#include "outside/chunks.h"

struct jp_othermalloc {
	const char *name;        /* "glibc", "musl"; NULL: not known */
	unsigned arenas;         /* of glibc, with the main one; else 0 */
	uint64_t unused;         /* bytes of free places in all but the main one; what threads cache counts as in use */
	struct jp_chunks chunks; /* of glibc's arenas; of the main one where nobody else has memory between */
};

/* 0, or -1 when memory is short. To be released in either case. */
int jp_othermalloc_find(struct jp_memsource *source, struct jp_othermalloc *other) jp_must_check;

void jp_othermalloc_release(struct jp_othermalloc *other);
