#include "base/intern.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

static uint32_t hash_bytes(uint64_t seed, const char *data, size_t len)
{
	uint64_t h = jp_hash(seed, data, len);
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t *slot_for(const struct jp_intern *table, const char *data, size_t len, uint32_t hash)
{
	uint32_t mask = table->slot_count - 1;
	for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t id = table->slots[i];
		if (id == JP_NONE)
			return &table->slots[i];
		const struct jp_intern_item *item = &table->items[id];
		if (item->hash == hash && item->len == len && !memcmp(item->data, data, len))
			return &table->slots[i];
	}
}

static int grow_slots(struct jp_intern *table)
{
	if (!table->slot_count && getentropy(&table->seed, sizeof table->seed))
		table->seed = (uintptr_t)table;
	uint32_t wanted = table->slot_count ? table->slot_count * 2 : 64;
	if (wanted > UINT32_MAX / 4)
		return -1;
	uint32_t *slots = malloc(wanted * sizeof *slots);
	if (!slots)
		return -1;
	memset(slots, 0xff, wanted * sizeof *slots);
	for (uint32_t id = 0; id < table->count; id++) {
		uint32_t i = table->items[id].hash & (wanted - 1);
		while (slots[i] != JP_NONE)
			i = (i + 1) & (wanted - 1);
		slots[i] = id;
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count = wanted;
	return 0;
}

uint32_t jp_intern(struct jp_intern *table, const void *data, size_t len)
{
	if (len > UINT32_MAX || (table->count >= table->slot_count / 4 * 3 && grow_slots(table)))
		return JP_NONE;
	uint32_t hash = hash_bytes(table->seed, data, len);
	uint32_t *slot = slot_for(table, data, len, hash);
	if (*slot != JP_NONE)
		return *slot;
	if (jp_array_push(table->items, table->count, table->cap))
		return JP_NONE;
	char *copy = jp_arena_dup(&table->arena, data, len);
	if (!copy)
		return JP_NONE;
	table->items[table->count] = (struct jp_intern_item){ copy, (uint32_t)len, hash };
	*slot = table->count;
	return table->count++;
}

int jp_intern_rewrite(struct jp_intern *table, jp_intern_rewrite_fn *rewrite, void *context, uint32_t *map)
{
	uint32_t count = table->count;
	if (count)
		memset(table->slots, 0xff, table->slot_count * sizeof *table->slots);
	table->count = 0;
	for (uint32_t id = 0; id < count; id++) {
		char *old = (char *)(uintptr_t)table->items[id].data, *data = old;
		size_t len = table->items[id].len;
		int rc = rewrite(context, &data, &len);
		if (rc)
			return rc;
		memmove(old, data, len);
		old[len] = '\0';
		uint32_t hash = hash_bytes(table->seed, old, len), *slot = slot_for(table, old, len, hash);
		if (*slot == JP_NONE) {
			table->items[table->count] = (struct jp_intern_item){ old, (uint32_t)len, hash };
			*slot = table->count++;
		}
		map[id] = *slot;
	}
	return 0;
}

uint32_t jp_intern_find(const struct jp_intern *table, const void *data, size_t len)
{
	return table->slot_count ? *slot_for(table, data, len, hash_bytes(table->seed, data, len)) : JP_NONE;
}

uint32_t jp_intern_str(struct jp_intern *table, const char *s)
{
	return jp_intern(table, s, strlen(s));
}

const char *jp_intern_get(const struct jp_intern *table, uint32_t id)
{
	return table->items[id].data;
}

size_t jp_intern_len(const struct jp_intern *table, uint32_t id)
{
	return table->items[id].len;
}

void jp_intern_release(struct jp_intern *table)
{
	jp_arena_release(&table->arena);
	free(table->items);
	free(table->slots);
	*table = (struct jp_intern){ 0 };
}
