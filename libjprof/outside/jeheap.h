/* What a jemalloc has, counted from its own tables: each number is one that mallctl gives, too. */
#pragma once

#include "base/jsonout.h"
#include "outside/jeextents.h"

enum { jp_je_arenas = 4096 };

/* A class of sizes. */
struct jp_jeclass {
	uint64_t slabs, places; /* of small objects */
	uint64_t taken;         /* places that are not free, or large objects: with those in caches */
	uint64_t cached;        /* of these: in caches of threads */
	uint64_t sampled;       /* small objects on pages of their own, which are in none of the above */
	uint64_t extents;       /* bytes of the extents of large objects */
	uint64_t untouched;     /* of these: bytes of live objects that were never touched */
};

struct jp_jeheap {
	const char *version; /* as far as the tables tell; NULL: there is no jemalloc */
	bool caches_known;
	uint64_t caches;        /* of threads */
	bool background_thread; /* set by the caller: one of jemalloc's own runs in the process */
	struct jp_jeclass classes[jp_je_classes];
	uint64_t bytes[jp_je_states]; /* of extents, by state */
	bool padded;                  /* each large object has a page more than it needs: cache_oblivious */
	uint64_t sampled_memory;      /* bytes of the extents of small sampled objects that are in memory */
	uint64_t sampled_extents;     /* their bytes, in memory or not, with padding */
	uint64_t sampled_large,
	    sampled_padded; /* how many have room for the first large object; and for padding, too */
	uint64_t untouched_idle, untouched_pages, untouched_cached; /* bytes never touched: of dirty and muzzy extents;
	                                             of those in use, beside large objects; of objects in caches */
	uint64_t metadata;                   /* bytes of jemalloc's own data that are in memory */
	uint64_t arena_active[jp_je_arenas]; /* bytes of extents in use, by arena */
	unsigned arenas;                     /* one more than the number of the last that has any */
	uint64_t torn, mended,
	    misfits; /* extents and cached objects that did not fit together; extents that did later */
	bool cut;    /* a limit was reached: not all was read */
};

/* Counts it. 0, also where there is no jemalloc, or -1 when memory is short. */
int jp_jeheap_read(struct jp_memsource *source, struct jp_jeheap *heap) jp_must_check;

/* The same, and its extents, where what lies in caches is free. To be released. */
int jp_jeheap_take(struct jp_memsource *source, struct jp_jeheap *heap, struct jp_jeextents *extents) jp_must_check;

/* A large object's bytes: of 5.3.1 whole pages, else its class. */
uint64_t jp_je_object_size(const struct jp_jeextent *extent);

/* Small sampled objects that jemalloc counts as one of the first large class each: 5.3.0 all, for it gives each that
 * room; 5.3.1 only those that need it, and the others in no class. */
uint64_t jp_jeheap_sampled_counted(const struct jp_jeheap *heap);

/* Bytes by jemalloc's own way of counting: `stats.allocated`. */
uint64_t jp_jeheap_allocated(const struct jp_jeheap *heap);

/* Writes it into an object, as malloc_stats_print does with "J", as far as both have it: docs/internals/outside.md. */
void jp_jeheap_write(const struct jp_jeheap *heap, struct jp_jsonout *out);
