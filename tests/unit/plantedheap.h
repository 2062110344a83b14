/* A jemalloc that a test made: its tables in an address space of their own, page by page, in each layout. */
#pragma once

#include "outside/jelayout.h"
#include "outside/memsource.h"

enum { planted_pages = 2048 };

struct planted {
	struct jp_memsource base;
	const struct jp_jelayout *layout;
	struct {
		uint64_t number;
		unsigned char bytes[jp_memory_page];
	} * pages;
	size_t count;
	uint64_t records; /* where the next one goes */
	size_t reads;     /* that were asked for */
};

/* Where things are. */
#define PLANTED_DATA 0x7f0000000000ULL
#define PLANTED_ROOT (PLANTED_DATA + 0x1a78)
#define PLANTED_HEAP 0x7e0040000000ULL  /* objects; 64 MB */
#define PLANTED_TABLE 0x7e1000000000ULL /* jemalloc's own data; 64 MB */
#define PLANTED_STACK 0x7e2000000000ULL /* a thread's data; 1 MB */

/* An empty one; to be closed with jp_memsource_close. */
struct planted *planted_new(const struct jp_jelayout *layout);

void planted_put(struct planted *planted, uint64_t address, const void *data, size_t size);
void planted_word(struct planted *planted, uint64_t address, uint64_t word);

/* An extent with its record and entries; of a slab the first `taken` places are. The address of the record. */
uint64_t planted_extent(struct planted *planted, uint64_t base, uint64_t size, unsigned class, enum jp_je_state state,
                        unsigned taken);

/* A thread's cache as in 5.3.0, with `count` objects of a class; in a ring with `next` caches behind it. */
uint64_t planted_cache(struct planted *planted, uint64_t at, unsigned class, const uint64_t *objects, size_t count);
