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

static void fill_slots(struct jp_intern *table)
{
	if (table->slot_count)
		memset(table->slots, 0xff, table->slot_count * sizeof *table->slots);
	for (uint32_t id = 0; id < table->count; id++) {
		uint32_t i = table->items[id].hash & (table->slot_count - 1);
		while (table->slots[i] != JP_NONE)
			i = (i + 1) & (table->slot_count - 1);
		table->slots[i] = id;
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
	free(table->slots);
	table->slots = slots;
	table->slot_count = wanted;
	fill_slots(table);
	return 0;
}

void jp_intern_cut(struct jp_intern *table, uint32_t count)
{
	if (count >= table->count)
		return;
	table->count = count;
	fill_slots(table);
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

uint32_t *jp_none_array(size_t count)
{
	uint32_t *ids = malloc((count + 1) * sizeof *ids);
	if (ids)
		memset(ids, 0xff, (count + 1) * sizeof *ids);
	return ids;
}
