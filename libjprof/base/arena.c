#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { first_size = 4 * 1024, block_size = 64 * 1024 }; /* many arenas stay small */

struct jp_arena_block {
	struct jp_arena_block *older;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

static struct jp_arena_block *block_new(struct jp_arena *arena, size_t size)
{
	if (size > SIZE_MAX - sizeof(struct jp_arena_block))
		return NULL;
	struct jp_arena_block *block = calloc(1, sizeof *block + size);
	if (!block)
		return NULL;
	block->size = size;
	block->older = arena->newest;
	arena->newest = block;
	arena->used = 0;
	return block;
}

void *jp_arena_alloc(struct jp_arena *arena, size_t size)
{
	const size_t align = alignof(uint64_t);
	if (size > SIZE_MAX - align)
		return NULL;
	size = (size + align - 1) / align * align;
	struct jp_arena_block *block = arena->newest;
	if (!block || block->size - arena->used < size) {
		size_t usual = block ? block_size : first_size;
		block = block_new(arena, size > usual ? size : usual);
		if (!block)
			return NULL;
	}
	void *piece = block->bytes + arena->used;
	arena->used += size;
	return piece;
}

char *jp_arena_dup(struct jp_arena *arena, const void *data, size_t len)
{
	char *copy = len < SIZE_MAX ? jp_arena_alloc(arena, len + 1) : NULL;
	if (copy && len)
		memcpy(copy, data, len);
	return copy;
}

void jp_arena_adopt(struct jp_arena *to, struct jp_arena *from)
{
	struct jp_arena_block *oldest = from->newest;
	while (oldest && oldest->older)
		oldest = oldest->older;
	if (oldest && to->newest) {
		oldest->older = to->newest->older;
		to->newest->older = from->newest;
	} else if (oldest) {
		*to = *from;
	}
	*from = (struct jp_arena){ 0 };
}

void jp_arena_release(struct jp_arena *arena)
{
	while (arena->newest) {
		struct jp_arena_block *block = arena->newest;
		arena->newest = block->older;
		free(block);
	}
	arena->used = 0;
}
