/* Stacks by id: runs of location ids, innermost first. Equal ones have one id. */
#pragma once

#include "base/arena.h"
#include "base/index.h"

struct jp_stack_item {
	const uint32_t *places;
	uint32_t depth, hash;
};

/* A table of zero bytes is empty and ready for use. What it has of places never moves. */
struct jp_stack_table {
	struct jp_stack_item *items;
	size_t cap;
	struct jp_index ids;
	struct jp_arena copies;
	uint32_t *owned; /* places that were handed over, freed with the table */
};

/* The id of a stack; JP_NONE when memory is short. A new one is copied, or kept where it lies if it is `owned`. */
uint32_t jp_stack_id(struct jp_stack_table *table, const uint32_t *places, size_t depth);
uint32_t jp_stack_id_owned(struct jp_stack_table *table, const uint32_t *places, size_t depth);

/* Forgets all ids from `count` on. */
void jp_stack_cut(struct jp_stack_table *table, uint32_t count);

void jp_stack_table_release(struct jp_stack_table *table);
