/* The live blocks of a jemalloc, numbered by their addresses, and to whom each was given first. */
#pragma once

#include "outside/jeextents.h"

enum { jp_je_most_blocks = 64 << 20, jp_je_most_owners = (1 << 14) - 1 };

struct jp_jeblocks {
	struct jp_memsource *source;
	const struct jp_jeextents *extents;
	uint32_t *first;    /* of each extent the number of its first block, and behind them that of all */
	uint64_t low, high; /* their addresses */
	uint32_t *units;    /* of each unit of 2 MB from low on: its table of pages + 1 */
	uint32_t *pages;    /* tables of 512: the extent of a page + 1 */
	uint16_t *owners;   /* of each block, 0: nobody; and whether it is to be read */
	uint64_t *piece;    /* what was read last */
	uint32_t *stack;    /* blocks to be read, once each level was */
	size_t count, stack_count, stack_cap;
	bool failed; /* memory was short */
};

/* 0, also where there are more than are ever looked at: then count is 0; or -1 when memory is short. To be released. */
int jp_jeblocks_open(struct jp_memsource *source, const struct jp_jeextents *extents,
                     struct jp_jeblocks *blocks) jp_must_check;

void jp_jeblocks_release(struct jp_jeblocks *blocks);

/* Gives each live block that a word points into to an owner, from 1 on, unless it has one. */
void jp_jeblocks_give(struct jp_jeblocks *blocks, const uint64_t *words, size_t count, unsigned owner);

/* The same of the block that holds an address, which is not read. */
void jp_jeblocks_claim(struct jp_jeblocks *blocks, uint64_t address, unsigned owner);

/* A live block. */
struct jp_jeblock {
	uint32_t number;
	const struct jp_jeextent *extent;
	uint64_t at, size; /* where it begins, and the bytes of its place */
};

/* The one that an address lies in; false: in none. */
bool jp_jeblocks_find(const struct jp_jeblocks *blocks, uint64_t address, struct jp_jeblock *found);

/* Reads all that were given since the last call, and gives what they point to to the same owners: what is nearer first.
 * 0, or -1 when memory is short. */
int jp_jeblocks_follow(struct jp_jeblocks *blocks) jp_must_check;

/* The owner of the i-th place of an extent; 0: nobody. */
unsigned jp_jeblocks_owner(const struct jp_jeblocks *blocks, size_t extent, unsigned place);

/* Bytes of a live block of an extent, of a large one without what was never touched. `padded` as in struct jp_jeheap.
 */
uint64_t jp_jeblock_bytes(struct jp_memsource *source, const struct jp_jeextent *extent, bool padded);

/* Whether a place of an extent in use has a live block. */
bool jp_jeextent_lives(const struct jp_jeextent *extent, unsigned place);

/* Places of an extent for blocks: 0 where it is not in use. */
unsigned jp_jeextent_places(const struct jp_jeextent *extent);
