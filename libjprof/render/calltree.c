#include "render/calltree.h"

#include <stdlib.h>

#include "base/array.h"

enum { longest_loop = 16 };

/* What is left of a stack so far. A place in what is taken out again may have no node. */
struct jp_call_place {
	uint32_t row, parent, level; /* the root's level is 0 */
	uint32_t node;               /* 0: none yet */
	uint64_t rows;               /* bits of its row and of those above: where one's is missing, the row is */
};

static uint64_t row_bit(uint32_t row)
{
	return UINT64_C(1) << (row % 64);
}

static uint32_t new_place(struct jp_calls *c, uint32_t parent, uint32_t row)
{
	if (jp_array_push(c->places, c->place_count, c->place_cap))
		return JP_NONE;
	struct jp_call_place *place = &c->places[c->place_count];
	*place = (struct jp_call_place){ .row = row, .parent = parent, .rows = row_bit(row) };
	if (c->place_count) {
		place->level = c->places[parent].level + 1;
		place->rows |= c->places[parent].rows;
	}
	return c->place_count++;
}

/* Whether `row` and what stands above it, `period` rows together, are those that end at `other`. */
static bool is_loop(const struct jp_calls *c, uint32_t above, uint32_t row, uint32_t period, uint32_t other)
{
	for (; period && row == c->places[other].row; period--) {
		row = c->places[above].row;
		above = c->places[above].parent;
		other = c->places[other].parent;
	}
	return !period;
}

/* The place of a row below another, or the one that this repeats. */
static uint32_t find_place(struct jp_calls *c, uint32_t above, uint32_t row)
{
	bool may_loop = c->places[above].rows & row_bit(row);
	uint32_t other = above, room = may_loop ? (c->places[above].level + 1) / 2 : 0;
	for (uint32_t period = 1; period <= longest_loop && period <= room; period++) {
		if (is_loop(c, above, row, period, other))
			return other;
		other = c->places[other].parent;
	}
	return new_place(c, above, row);
}

/* What most steps are not. */
static __attribute__((noinline)) uint32_t new_step(struct jp_calls *c, uint32_t above, uint32_t row)
{
	if (jp_array_push(c->to, c->step_count, c->to_cap))
		return JP_NONE;
	uint32_t place = find_place(c, above, row);
	if (place != JP_NONE)
		c->to[c->step_count++] = place;
	return place;
}

static uint32_t place_after(struct jp_calls *c, uint32_t above, uint32_t row)
{
	uint32_t step = jp_pair_id(&c->steps, above, row);
	if (step < c->step_count)
		return c->to[step];
	return step == JP_NONE ? JP_NONE : new_step(c, above, row);
}

/* Nodes for the places that have none, the outermost first. */
static int make_nodes(struct jp_calls *c, uint32_t end)
{
	for (uint32_t at = end; at; at = c->places[at].parent)
		c->path[c->places[at].level - 1] = at;
	for (uint32_t i = 0; i < c->places[end].level; i++) {
		struct jp_call_place *place = &c->places[c->path[i]];
		if (place->node)
			continue;
		if (jp_array_push(c->nodes, (size_t)c->count + 1, c->cap))
			return -1;
		place->node = ++c->count;
		c->nodes[place->node] = (struct jp_call){ place->row, c->places[place->parent].node };
	}
	return 0;
}

int jp_calls_add(struct jp_calls *c, const uint32_t *rows, size_t count, size_t *depth)
{
	uint32_t at = 0, level = 0;
	if (jp_array_reserve(&c->path, &c->path_cap, count + 1, sizeof *c->path) ||
	    jp_array_reserve(&c->loops, &c->loop_cap, count + 1, sizeof *c->loops) ||
	    (!c->place_count && new_place(c, 0, JP_NONE) == JP_NONE))
		return -1;
	for (size_t i = count; i-- > 0;) {
		uint32_t above = level;
		at = place_after(c, at, rows[i]);
		if (at == JP_NONE)
			return -1;
		/* Where a loop was taken out, its first row is what loops. */
		level = c->places[at].level;
		c->loops[level > above ? above : 2 * level - above - 1] = level <= above;
	}
	*depth = level;
	if (level && !c->places[at].node && make_nodes(c, at))
		return -1;
	for (uint32_t node = c->places[at].node; level; node = c->nodes[node].parent)
		c->path[--level] = node;
	return 0;
}

void jp_calls_release(struct jp_calls *c)
{
	free(c->nodes);
	free(c->path);
	free(c->loops);
	jp_pairs_release(&c->steps);
	free(c->to);
	free(c->places);
	*c = (struct jp_calls){ 0 };
}
