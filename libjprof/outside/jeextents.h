/* The extents of a jemalloc: what its page map leads to, each proved against its record. */
#pragma once

#include "outside/jeroot.h"

struct jp_jeextent {
	uint64_t base, size; /* bytes */
	uint64_t first;      /* address of the first object */
	uint64_t record;
	uint16_t arena;
	uint8_t class, state;
	bool slab : 1;
	bool cached : 1;                  /* of one large object: it lies in a thread's cache */
	bool past : 1;                    /* likewise: it holds a cache's pointers, which are of the past */
	uint16_t places;                  /* of a slab */
	uint64_t free[jp_je_places / 64]; /* of a slab, with those in caches once they are marked */
};

struct jp_jeextents {
	struct jp_jeextent *items; /* by ascending address, and none reaches into the next */
	size_t count, cap;
	uint64_t *units; /* numbers of the 2 MB units with jemalloc's own data, ascending */
	size_t unit_count, unit_cap;
	uint64_t torn;   /* extents that were in use, and did not fit together however often they were read */
	uint64_t mended; /* that fitted when they were read again */
	bool too_many;   /* not all were taken */
};

/* Lists them all; the process may change them meanwhile. 0, or -1 when memory is short. To be released. */
int jp_jeextents_walk(struct jp_memsource *source, const struct jp_jemap *map,
                      struct jp_jeextents *extents) jp_must_check;

void jp_jeextents_release(struct jp_jeextents *extents);

/* The extent that holds an address; NULL: none does. */
struct jp_jeextent *jp_jeextents_find(const struct jp_jeextents *extents, uint64_t address);

/* Whether a unit of 2 MB has jemalloc's own data. */
bool jp_jeextents_own(const struct jp_jeextents *extents, uint64_t unit);

/* Number of bits that are set among the first `count`. */
unsigned jp_je_bits(const uint64_t *words, unsigned count);
