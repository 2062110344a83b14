/* Live blocks that nothing that was read points to. That is no proof that nothing does: a process runs on while it is
 * read, and a program may hide its pointers. So a live process is looked at twice. */
#pragma once

#include "base/jsonout.h"
#include "jprof-live.h"
#include "outside/jeblocks.h"

struct jp_lostblock {
	uint64_t address;
	uint32_t mark; /* hash of its first 256 bytes */
	uint8_t class;
};

struct jp_lostblocks {
	bool known;                 /* false: not all memory was read, and the list says nothing */
	struct jp_lostblock *items; /* ascending */
	size_t count, cap;
	bool too_many;             /* not all were taken */
	unsigned mappings, stacks; /* that were looked into */
};

/* Adds the block of a place. 0, or -1 when memory is short. */
int jp_lostblocks_add(struct jp_lostblocks *lost, struct jp_memsource *source, const struct jp_jeextent *extent,
                      unsigned place) jp_must_check;

/* Leaves those that were lost before, too, and have the content that they had. */
void jp_lostblocks_keep(struct jp_lostblocks *lost, const struct jp_lostblocks *before);

/* What they have by their size classes. */
uint64_t jp_lostblocks_bytes(const struct jp_lostblocks *lost);

/* Writes them by size and by what is in them as the member `unreachable` of heap.json, and hands each to `each`, which
 * may be NULL. Of a block that is the type of a C++ object, or the file that it has a pointer into. 0, or -1 when
 * memory is short. */
int jp_lostblocks_write(const struct jp_lostblocks *lost, struct jp_memsource *source,
                        const struct jp_jeextents *extents, bool padded, const struct jprof_heap_opts *opts,
                        struct jp_jsonout *out) jp_must_check;

void jp_lostblocks_release(struct jp_lostblocks *lost);
