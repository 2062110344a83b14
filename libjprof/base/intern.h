/* Byte strings become small ids once; after that, equal means same id.
 * Serves names, paths, stacks (arrays of ids) and keys made of several ids. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/index.h"

struct jp_intern_item {
	const char *data;
	uint32_t len;
	uint32_t hash;
};

/* A table of zero bytes is empty and ready for use. */
struct jp_intern {
	struct jp_arena arena;
	struct jp_intern_item *items;
	uint32_t count;
	size_t cap;
	uint32_t *slots;
	uint32_t slot_count; /* a power of two, or 0 */
	uint64_t seed;       /* drawn per table, so that no input can aim at collisions */
};

/* The id of these bytes: ids count up from 0 in the order of first sight.
 * JP_NONE when memory is short. */
uint32_t jp_intern(struct jp_intern *table, const void *data, size_t len);
uint32_t jp_intern_str(struct jp_intern *table, const char *s);

/* The id of these bytes if they have one, else JP_NONE. */
uint32_t jp_intern_find(const struct jp_intern *table, const void *data, size_t len);

/* The bytes of an id, followed by a NUL, aligned for any type. They live as long as the table. */
const char *jp_intern_get(const struct jp_intern *table, uint32_t id);
size_t jp_intern_len(const struct jp_intern *table, uint32_t id);

/* Forgets all ids from `count` on; their memory is released with the table. */
void jp_intern_cut(struct jp_intern *table, uint32_t count);

void jp_intern_release(struct jp_intern *table);

/* `count` ids, all of them JP_NONE; NULL when memory is short. */
uint32_t *jp_none_array(size_t count) jp_must_check;
