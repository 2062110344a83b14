#include "outside/slotgroups.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "input/maps.h"

enum {
	unit = 16,          /* slots are multiples of it; the first one lies so far into its group */
	head_bytes = 4,     /* at the end of a slot, before the next one */
	area_records = 101, /* of a page of 4 KB; records have 40 bytes, and begin at byte 24 */
	first_at = 56,      /* of the context: the address of the first page of records, and then of the last */
	slots = 32,
	classes = 48,
	class_of_pages = 63, /* a block with pages of its own */
	most_groups = 1 << 22,
};

/* Of the slots of each class, in units. */
static const uint16_t units[classes] = { 1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   12,   15,
	                                 18,   20,   25,   31,   36,   42,   50,   63,   72,   84,   102,  127,
	                                 146,  170,  204,  255,  292,  340,  409,  511,  584,  682,  818,  1023,
	                                 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191 };

struct area {
	uint64_t secret, next, count;
	struct record {
		uint64_t links[2], group;
		uint32_t available, freed;
		uint64_t bits; /* 0-4 the last slot, 6-11 class, 12-63 pages of its own */
	} records[area_records];
};

/* ---- finding ------------------------------------------------------------------------------------------------- */

/* The context has the secret of the pages that it leads to. 0: there is none. */
static uint64_t first_area(struct jp_memwindow *w, uint64_t data, uint64_t limit, uint64_t *secret)
{
	for (uint64_t at = data; at < limit && limit - at >= first_at + 16; at += 8) {
		uint64_t first = jp_memwindow_word(w, at + first_at);
		uint64_t last = jp_memwindow_word(w, at + first_at + 8);
		*secret = jp_memwindow_word(w, at);
		if (*secret && first && first % jp_memory_page == 0 && last && last % jp_memory_page == 0 &&
		    jp_memsource_word(w->source, first) == *secret && jp_memsource_word(w->source, last) == *secret)
			return first;
	}
	return 0;
}

/* A group and its record lead to each other. False: this one does not prove itself, or is not in use. */
static bool group_of_record(struct jp_memsource *m, const struct record *r, uint64_t at, struct jp_slotgroup *g,
                            uint64_t *unused)
{
	uint64_t words[2], pages = r->bits >> 12, class = r->bits >> 6 & 63, last = r->bits & 31;
	uint32_t all = (2U << last) - 1, idle = r->available | r->freed;
	const struct jprof_map *map = r->group && r->group % unit == 0 ? jp_maps_find(m->maps, r->group) : NULL;
	if (!map || (class >= classes && (class != class_of_pages || !pages || last)) || idle & ~all ||
	    r->available & r->freed)
		return false;
	uint64_t room = map->limit - r->group, own = last ? 0 : pages;
	if (own > room / jp_memory_page || !jp_memsource_read(m, r->group, words, sizeof words) || words[0] != at)
		return false;
	uint64_t size = own ? own * jp_memory_page - unit : (uint64_t)units[class] * unit, start = r->group + unit;
	*g = (struct jp_slotgroup){ start, size, start + size * (last + 1), all & ~idle };
	*unused = size * (unsigned)__builtin_popcount(idle & ((2U << (words[1] & 31)) - 1));
	return g->reach <= map->limit;
}

/* 0, or -1 when memory is short. */
static int take_area(struct jp_memsource *m, const struct area *area, uint64_t at, struct jp_slotgroups *g)
{
	for (size_t i = 0; i < area_records && g->count < most_groups; i++) {
		uint64_t unused, record = at + offsetof(struct area, records) + i * sizeof *area->records;
		if (jp_array_push(g->items, g->count, g->cap))
			return -1;
		if (group_of_record(m, &area->records[i], record, &g->items[g->count], &unused)) {
			g->count++;
			g->unused += unused;
		}
	}
	return 0;
}

static bool read_area(struct jp_memsource *m, uint64_t at, uint64_t secret, struct area *area)
{
	return at && at % jp_memory_page == 0 && jp_memsource_read(m, at, area, sizeof *area) &&
	       area->secret == secret && (uint32_t)area->count == area_records;
}

int jp_slotgroups_find(struct jp_memwindow *w, uint64_t data, uint64_t limit, struct jp_slotgroups *g)
{
	struct area area;
	uint64_t secret = 0, at = first_area(w, data, limit, &secret), seen = 0;
	*g = (struct jp_slotgroups){ 0 };
	for (size_t i = 1; read_area(w->source, at, secret, &area); i++) {
		if (take_area(w->source, &area, at, g))
			return -1;
		/* A page that comes again after 1, 2, 4, 8... others: they are a ring, and not malloc's. */
		seen = i & (i - 1) ? seen : at;
		at = area.next;
		if (at == seen)
			g->count = g->unused = at = 0;
	}
	if (g->count)
		qsort(g->items, g->count, sizeof *g->items, jp_by_first);
	for (size_t i = 1; i < g->count; i++)
		if (g->items[i].reach < g->items[i - 1].reach)
			g->items[i].reach = g->items[i - 1].reach;
	return 0;
}

void jp_slotgroups_release(struct jp_slotgroups *g)
{
	free(g->items);
	*g = (struct jp_slotgroups){ 0 };
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

/* What lies before a block. Before a slot whose block begins further in, units lead to that. */
struct head {
	unsigned slot; /* its number */
	unsigned
	    left; /* bytes at the end of the slot that were not asked for; left_is_far; or more: this is no block */
	unsigned units; /* from the first slot of the group */
};

enum { left_is_far = 5 }; /* how many are left stands in the slot's last four bytes */

static bool read_head(struct jp_memsource *m, uint64_t at, struct head *head)
{
	unsigned char b[head_bytes];
	if (!jp_memsource_read(m, at - head_bytes, b, sizeof b))
		return false;
	*head = (struct head){ b[1] & 31, b[1] >> 5, b[2] | (unsigned)b[3] << 8 };
	return !b[0];
}

/* Bytes that were not asked for, in a slot that has room up to `end`. False: this is no block. */
static bool bytes_left(struct jp_memsource *m, const struct head *head, uint64_t end, uint32_t *left)
{
	*left = head->left;
	return *left < left_is_far ||
	       (*left == left_is_far && jp_memsource_read(m, end - 4, left, sizeof *left) && *left >= left_is_far);
}

bool jp_slotgroups_take(struct jp_slotgroups *groups, struct jp_memsource *m, uint64_t pointer, uint64_t *size)
{
	struct head head, first;
	uint32_t left;
	/* Most words are no addresses. */
	if (pointer % unit || !groups->count || pointer >= groups->items[groups->count - 1].reach)
		return false;
	size_t below = jp_count_below(groups->items, groups->count, sizeof *groups->items, pointer + 1);
	if (!below || pointer >= groups->items[below - 1].reach || !read_head(m, pointer, &head))
		return false;
	uint64_t start = pointer - (uint64_t)head.units * unit;
	size_t i = jp_count_below(groups->items, groups->count, sizeof *groups->items, start);
	struct jp_slotgroup *g = &groups->items[i];
	if (i == groups->count || g->start != start || !(g->used >> head.slot & 1))
		return false;
	uint64_t slot = start + g->size * head.slot, end = slot + g->size - head_bytes;
	if (pointer < slot || pointer >= end || !bytes_left(m, &head, end, &left) || left > end - pointer)
		return false;
	if (pointer != slot && (!read_head(m, slot, &first) || first.units * (uint64_t)unit != pointer - slot))
		return false;
	g->used &= ~(1U << head.slot);
	*size = end - pointer - left;
	return true;
}

uint64_t jp_slotgroups_next(const struct jp_slotgroups *groups, uint64_t size, size_t *group, uint64_t *place)
{
	for (; *group < groups->count; ++*group, *place = 0) {
		const struct jp_slotgroup *g = &groups->items[*group];
		while (g->size == size && *place < slots && g->used >> *place) {
			uint64_t i = (*place)++;
			if (g->used >> i & 1)
				return g->start + i * size;
		}
	}
	return 0;
}
