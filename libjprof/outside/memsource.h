/* The memory of a process as somebody else sees it: a live one's, or one that was recorded. Reading changes nothing
 * there: a page that is not in memory is not read, for that would bring it in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "jprof.h"

enum {
	jp_memory_page = 4096,
	jp_memory_unit = 2 << 20, /* what is asked at once about its pages, which are 512 */
	jp_memory_piece = 256 << 10,
	jp_memory_slots = 128,
};

/* Which pages of a unit are in memory, and which are swapped out: bit I % 64 of word I / 64 for page I. */
struct jp_memory_pages {
	uint64_t number; /* of the unit: address / jp_memory_unit */
	uint64_t there[8], swapped[8];
	uint64_t alone[8]; /* of those there: no other process has the page; of a live process */
	bool known;
};

/* The kinds of source embed this. */
struct jp_memsource {
	/* Puts up to `size` bytes to `to`; how many, which is less where the rest cannot be read. */
	size_t (*read)(struct jp_memsource *source, uint64_t address, void *to, size_t size);
	/* Fills in there[], swapped[] and alone[] of a unit; what is not known is 0. */
	void (*look)(struct jp_memsource *source, struct jp_memory_pages *unit);
	void (*close)(struct jp_memsource *source);
	struct jprof_maps *maps; /* owned */
	uint64_t *stacks;        /* stack pointers of threads, where they are known; owned */
	size_t stack_count, stack_cap;
	uint64_t *registers; /* of a core: all that its threads had; owned */
	size_t register_count, register_cap;
	bool of_core;    /* a page that is not there is one of zeros, and may have been touched */
	uint64_t left;   /* bytes that may yet be read, and looked at; then nothing is there any more */
	uint64_t absent; /* pages that were wanted and not in memory: swapped out, or never there */
	struct jp_memory_pages seen[jp_memory_slots];
};

/* Frees it; NULL is fine. */
void jp_memsource_close(struct jp_memsource *source);

/* Whether all of it is in memory and was read. */
bool jp_memsource_read(struct jp_memsource *source, uint64_t address, void *to, size_t size) jp_must_check;

/* The word at an address; 0 where it cannot be read. */
uint64_t jp_memsource_word(struct jp_memsource *source, uint64_t address);

/* Copies what there is of a range, in pieces of at most 256 KiB; all else becomes 0. */
void jp_memsource_copy(struct jp_memsource *source, uint64_t address, void *to, size_t size);

/* The pages of a unit; they live until the next call. */
const struct jp_memory_pages *jp_memsource_unit(struct jp_memsource *source, uint64_t number);

/* Whether the page of an address is in memory. */
bool jp_memsource_has(struct jp_memsource *source, uint64_t address);

/* Bytes of a range whose pages were never touched, or were given back. */
uint64_t jp_memsource_untouched(struct jp_memsource *source, uint64_t address, uint64_t size);

/* Looks at pages anew from now on. */
void jp_memsource_forget(struct jp_memsource *source);

/* Whether a mapping is memory without a file that can be written: malloc's may be there. */
bool jp_map_is_heap(const struct jprof_map *map);

/* The mapping of that kind that holds an address; NULL: none does. */
const struct jprof_map *jp_memsource_heap(const struct jp_memsource *source, uint64_t address);

/* Whether an address can be written: musl's malloc uses what files' data leave of their last pages, too. */
bool jp_memsource_writable(const struct jp_memsource *source, uint64_t address);

/* Whether mapping `index` is a file's data: sets where they end with the memory behind them, which is its .bss. That is
 * 64 MB at most. */
bool jp_memsource_data(const struct jp_memsource *source, size_t index, uint64_t *limit);
