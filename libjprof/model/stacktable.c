#include "model/stacktable.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t hash_of_item(uint64_t seed, const void *item)
{
	(void)seed; /* it is in the hash */
	return ((const struct jp_stack_item *)item)->hash;
}

static bool same_places(const void *a, const void *b)
{
	const struct jp_stack_item *x = a, *y = b;
	return x->hash == y->hash && x->depth == y->depth &&
	       (!x->depth || !memcmp(x->places, y->places, x->depth * sizeof *x->places));
}

static const struct jp_index_kind stack_kind = { sizeof(struct jp_stack_item), hash_of_item, same_places };

static uint32_t stack_id(struct jp_stack_table *table, const uint32_t *places, size_t depth, bool owned)
{
	bool known;
	if (depth > UINT32_MAX || jp_array_push(table->items, table->ids.count, table->cap))
		return JP_NONE;
	uint64_t h = jp_hash(jp_index_seed(&table->ids), places, depth * sizeof *places);
	struct jp_stack_item item = { places, (uint32_t)depth, (uint32_t)(h ^ h >> 32) };
	uint32_t id = jp_index_id(&table->ids, &stack_kind, table->items, &item, &known);
	if (id == JP_NONE || known)
		return id;
	if (!owned)
		item.places =
		    (const uint32_t *)(const void *)jp_arena_dup(&table->copies, places, depth * sizeof *places);
	table->items[id] = item;
	if (item.places || !depth)
		return id;
	table->items[id].depth = 0;
	jp_stack_cut(table, id);
	return JP_NONE;
}

uint32_t jp_stack_id(struct jp_stack_table *table, const uint32_t *places, size_t depth)
{
	return stack_id(table, places, depth, false);
}

uint32_t jp_stack_id_owned(struct jp_stack_table *table, const uint32_t *places, size_t depth)
{
	return stack_id(table, places, depth, true);
}

void jp_stack_cut(struct jp_stack_table *table, uint32_t count)
{
	jp_index_cut(&table->ids, &stack_kind, table->items, count);
}

void jp_stack_table_release(struct jp_stack_table *table)
{
	jp_index_release(&table->ids);
	jp_arena_release(&table->copies);
	free(table->items);
	free(table->owned);
	*table = (struct jp_stack_table){ 0 };
}
