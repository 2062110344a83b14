/* The groups of musl's malloc: memory for up to 32 blocks, in slots of one size. The record of a group lies elsewhere,
 * in a page of records, and each of these pages begins with the secret of the process. Source:
 * src/malloc/mallocng/meta.h of musl 1.2.1 to 1.2.5; older ones have another malloc. */
#pragma once

#include "outside/memwindow.h"

/* A slot may have a group of smaller ones in it. */
struct jp_slotgroup {
	uint64_t start; /* of the first slot */
	uint64_t size;  /* of a slot, bytes */
	uint64_t reach; /* where this group ends, and all before it in the list */
	uint32_t used;  /* a bit for each slot that is in use, and that nobody has taken */
};

struct jp_slotgroups {
	struct jp_slotgroup *items; /* by ascending address */
	size_t count, cap;
	uint64_t unused; /* bytes of free slots that were in use before, or are the next */
};

/* Looks for them in libc's data. 0, also where there are none, or -1 when memory is short. To be released. */
int jp_slotgroups_find(struct jp_memwindow *window, uint64_t data, uint64_t limit,
                       struct jp_slotgroups *groups) jp_must_check;

void jp_slotgroups_release(struct jp_slotgroups *groups);

/* The block in use that malloc returned `pointer` for: sets the bytes that it was asked for. Each is taken once. False:
 * it is none, or was taken. */
bool jp_slotgroups_take(struct jp_slotgroups *groups, struct jp_memsource *source, uint64_t pointer, uint64_t *size);

/* The next slot in use of so many bytes, from *group and *place on, which begin as 0; 0: there are no more. */
uint64_t jp_slotgroups_next(const struct jp_slotgroups *groups, uint64_t size, size_t *group, uint64_t *place);
