/* The malloc of a process that has no jemalloc: glibc's, with the number of its arenas, musl's, or another's name.
 * Sources: malloc/arena.c and malloc/malloc.c of glibc 2.26 to 2.42: an arena but the main one begins in memory of its
 * own, at a multiple of 64 MB, with the record of that memory, { arena, previous, size, size that can be used }, and
 * its own behind it. */
#pragma once

#include "outside/chunks.h"
#include "outside/slotgroups.h"

struct jp_othermalloc {
	const char *name; /* "glibc", "musl"; of others, whose memory is not read, "tcmalloc"...; NULL: not known */
	unsigned arenas;  /* of glibc, with the main one; else 0 */
	/* Bytes of free places: of glibc in all arenas but the main one, where what threads cache counts as in use; of
	 * musl those of its groups. */
	uint64_t unused;
	struct jp_chunks chunks;     /* of glibc's arenas; of the main one where nobody else has memory between */
	struct jp_slotgroups groups; /* of musl's malloc; an older musl has none */
};

/* 0, or -1 when memory is short. To be released in either case. */
int jp_othermalloc_find(struct jp_memsource *source, struct jp_othermalloc *other) jp_must_check;

void jp_othermalloc_release(struct jp_othermalloc *other);

/* Whether blocks can be taken. */
bool jp_othermalloc_has_blocks(const struct jp_othermalloc *other);

/* The block in use that malloc returned `pointer` for: sets the bytes that it has from there on. Each is taken once.
 * False: it is none, or was taken. */
bool jp_othermalloc_take(struct jp_othermalloc *other, struct jp_memsource *source, uint64_t pointer, uint64_t *size);

/* The next block in use that may have been asked for as three words, from *list and *place on, which begin as 0; 0:
 * there are no more. */
uint64_t jp_othermalloc_next(const struct jp_othermalloc *other, size_t *list, uint64_t *place);
