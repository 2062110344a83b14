/* The caches of threads: freed objects that jemalloc counts as taken. A cache shows itself: its descriptor, in the
 * thread's own data, points to the bins, the word before these points back to it, and descriptors are in a ring.
 * Sources: tcache_structs.h and cache_bin.h of jemalloc 5.3.0, 5.3.1 and what came after it. */
#pragma once

#include "outside/jeextents.h"

struct jp_jecaches {
	const char *version; /* as far as caches tell: "5.3.0", "5.3.1", "later than 5.3.1"; NULL: there is none */
	uint64_t *descriptors;
	size_t count, cap;
	uint64_t objects[jp_je_classes]; /* of each class */
	uint64_t misfits;                /* that are in no extent of their class: the process ran on */
};

/* Looks for caches in memory that is neither an extent nor jemalloc's own, and marks their objects as free in
 * `extents`. 0, or -1 when memory is short. To be released. */
int jp_jecaches_find(struct jp_memsource *source, struct jp_jeextents *extents,
                     struct jp_jecaches *caches) jp_must_check;

void jp_jecaches_release(struct jp_jecaches *caches);
