/* Memory that lives as long as its owner: allocated piece by piece, released at once. */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct jp_arena_block;

/* An arena of zero bytes is empty and ready for use. */
struct jp_arena {
	struct jp_arena_block *newest;
	size_t used; /* bytes taken of the newest block */
};

/* `size` zeroed bytes aligned for any type but long double, or NULL when memory is short. */
void *jp_arena_alloc(struct jp_arena *arena, size_t size) jp_must_check;

/* A copy of `len` bytes followed by a NUL, or NULL when memory is short. */
char *jp_arena_dup(struct jp_arena *arena, const void *data, size_t len) jp_must_check;

/* All that is in `from` lives on in `to`; `from` is empty then. */
void jp_arena_adopt(struct jp_arena *to, struct jp_arena *from);

/* Frees everything; the arena is empty again. */
void jp_arena_release(struct jp_arena *arena);
