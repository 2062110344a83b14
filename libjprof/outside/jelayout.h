/* What jemalloc's tables look like in memory, by the version that made them: 64 bits, pages of 4 KB, configure's own
 * defaults. The page map is a radix tree from an address to the record of its extent; a slab, an extent for many small
 * objects, has an entry in it for each page, others for their first and last page. Sources: rtree.h, edata.h (5.3) and
 * extent_structs.h (5.2) of jemalloc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	jp_je_classes = 232, /* of sizes; this number itself says that there is none */
	jp_je_small = 36,    /* those of objects in slabs */
	jp_je_places = 512,  /* of objects in a slab, at most */
	jp_je_record_size = 128,
	jp_je_states = 8,
	jp_je_first_large = 16384, /* bytes: the smallest class without slabs */
};

/* The last one and those after it are of a moment: an extent is split, merged, or lies ready without a class. */
enum jp_je_state { JP_JE_ACTIVE, JP_JE_DIRTY, JP_JE_MUZZY, JP_JE_RETAINED, JP_JE_PASSING };

struct jp_jelayout {
	const char *version; /* as far as these tables tell: "5.3" */
	unsigned levels;     /* of the page map */
	unsigned level_bits; /* of the address that a level takes */
	unsigned entry_size; /* of its last level */
	unsigned align;      /* of a record */
	unsigned state_at;   /* bits of a record's first word */
	unsigned state_bits;
	unsigned class_at;
	unsigned free_at;
	bool entry_state; /* entries have it, too */
	bool caches;      /* the caches of threads are known */
};

/* In the order in which they are tried. */
extern const struct jp_jelayout jp_jelayouts[];
enum { jp_jelayout_count = 3 };

/* An entry of the last level. */
struct jp_jeentry {
	uint64_t record; /* its address; 0: none */
	unsigned class, state;
	bool slab;
	bool sound; /* it is one at all */
};

struct jp_jerecord {
	uint64_t base, size; /* of the extent, in bytes */
	uint64_t first;      /* address of the first object */
	unsigned arena, class, state, free_count;
	bool slab;
	uint64_t free[jp_je_places / 64]; /* of a slab: its free places */
};

struct jp_jeentry jp_jeentry_of(const struct jp_jelayout *layout, const unsigned char *bytes);
struct jp_jerecord jp_jerecord_of(const struct jp_jelayout *layout, const unsigned char bytes[jp_je_record_size]);

/* Bytes of an object of a class below jp_je_classes: 8, 16, 32, 48, 64, and then four between a power of two and the
 * next. */
uint64_t jp_jeclass_size(unsigned class);

/* The low bit of an address that the last level's tables have one each for. */
unsigned jp_jelayout_leaf_bit(const struct jp_jelayout *layout);

/* Entries of a table of any level. */
size_t jp_jelayout_entries(const struct jp_jelayout *layout);
