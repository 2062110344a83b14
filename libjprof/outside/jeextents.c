#include "outside/jeextents.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum {
	most_extents = 8 << 20, /* some 250 GB of small objects */
	most_units = 1 << 16,
	again = 3,             /* looks at what does not fit */
	entries_at_once = 512, /* bytes: of 256 KB of addresses, or 128 */
};

struct extent_walk {
	struct jp_memsource *source;
	const struct jp_jelayout *layout;
	struct jp_jeextents *to;
	uint64_t table; /* entries that are looked at: their address, and that of the first one's page */
	uint64_t base;
};

unsigned jp_je_bits(const uint64_t *words, unsigned count)
{
	unsigned n = 0;
	for (unsigned i = 0; i < count / 64; i++)
		n += (unsigned)__builtin_popcountll(words[i]);
	if (count % 64)
		n += (unsigned)__builtin_popcountll(words[count / 64] & ((1ULL << count % 64) - 1));
	return n;
}

/* ---- jemalloc's own units ---------------------------------------------------------------------------------- */

static int note_unit(struct jp_jeextents *x, uint64_t unit)
{
	size_t at = jp_count_below(x->units, x->unit_count, sizeof *x->units, unit);
	if (at < x->unit_count && x->units[at] == unit)
		return 0;
	if (x->unit_count == most_units) {
		x->too_many = true;
		return 0;
	}
	if (jp_array_push(x->units, x->unit_count, x->unit_cap))
		return -1;
	memmove(x->units + at + 1, x->units + at, (x->unit_count - at) * sizeof *x->units);
	x->units[at] = unit;
	x->unit_count++;
	return 0;
}

static int note_range(struct jp_jeextents *x, uint64_t at, uint64_t size)
{
	for (uint64_t unit = at / jp_memory_unit; unit <= (at + size - 1) / jp_memory_unit; unit++)
		if (note_unit(x, unit))
			return -1;
	return 0;
}

bool jp_jeextents_own(const struct jp_jeextents *x, uint64_t unit)
{
	size_t at = jp_count_below(x->units, x->unit_count, sizeof *x->units, unit);
	return at < x->unit_count && x->units[at] == unit;
}

/* ---- one extent ----------------------------------------------------------------------------------------------- */

static unsigned places_of(const struct jp_jerecord *r)
{
	uint64_t n = r->slab && r->class < jp_je_small ? r->size / jp_jeclass_size(r->class) : 0;
	return n <= jp_je_places ? (unsigned)n : 0;
}

/* Whether what a record says of an extent in use agrees with itself. */
static bool fits_together(const struct jp_jerecord *r)
{
	unsigned places = places_of(r);
	if (r->state != JP_JE_ACTIVE || r->class == jp_je_classes)
		return true;
	if (r->slab)
		return places && jp_je_bits(r->free, places) == r->free_count;
	return !r->class || jp_jeclass_size(r->class - 1) < r->size;
}

/* What one look at an entry gives. */
enum look_result { LOOK_NOTHING, LOOK_EXTENT, LOOK_TORN };

/* A record is taken at the first page of its extent only. Where it is of another extent, the entry is old: jemalloc
 * leaves some of those. */
static enum look_result look_at_entry(const struct extent_walk *w, size_t i, const struct jp_jeentry *e,
                                      struct jp_jerecord *r)
{
	uint64_t page = w->base + i * jp_memory_page;
	bool in_use = e->class < jp_je_classes && e->state == JP_JE_ACTIVE;
	if (!e->sound || !e->record)
		return e->sound ? LOOK_NOTHING : LOOK_TORN;
	if (!jp_jemap_record(w->source, w->layout, e, page, r))
		return in_use ? LOOK_TORN : LOOK_NOTHING;
	if (page != r->base)
		return LOOK_NOTHING;
	return fits_together(r) ? LOOK_EXTENT : LOOK_TORN;
}

static enum look_result look_again(const struct extent_walk *w, size_t i, struct jp_jeentry *e, struct jp_jerecord *r)
{
	enum look_result result = LOOK_TORN;
	for (int n = 0; n < again && result == LOOK_TORN; n++) {
		unsigned char bytes[16];
		jp_memsource_forget(w->source);
		if (!jp_memsource_read(w->source, w->table + i * w->layout->entry_size, bytes, w->layout->entry_size))
			continue;
		*e = jp_jeentry_of(w->layout, bytes);
		result = look_at_entry(w, i, e, r);
	}
	if (result == LOOK_TORN)
		w->to->torn++;
	else
		w->to->mended++;
	return result;
}

static int take_extent(const struct extent_walk *w, const struct jp_jeentry *e, const struct jp_jerecord *r)
{
	struct jp_jeextents *x = w->to;
	if (r->size > INT64_MAX - r->base) {
		x->torn++;
		return 0;
	}
	if (x->count == most_extents) {
		x->too_many = true;
		return 0;
	}
	if (note_unit(x, e->record / jp_memory_unit) || jp_array_push(x->items, x->count, x->cap))
		return -1;
	bool idle = r->state == JP_JE_ACTIVE && r->class == jp_je_classes;
	struct jp_jeextent *to = &x->items[x->count++];
	*to = (struct jp_jeextent){ .base = r->base,
		                    .size = r->size,
		                    .first = r->slab ? r->base : r->first,
		                    .record = e->record,
		                    .arena = (uint16_t)r->arena,
		                    .class = (uint8_t)r->class,
		                    .state = (uint8_t)(idle ? JP_JE_PASSING : r->state),
		                    .slab = r->slab && r->state == JP_JE_ACTIVE && !idle,
		                    .places = (uint16_t)places_of(r) };
	if (to->slab)
		memcpy(to->free, r->free, sizeof to->free);
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* Entries inside an extent that is known already need no look: they are its own, or old ones. */
static bool is_known(const struct jp_jeextents *x, uint64_t page)
{
	const struct jp_jeextent *last = x->count ? &x->items[x->count - 1] : NULL;
	return last && page - last->base < last->size;
}

static int walk_piece(const struct extent_walk *w, const unsigned char *piece, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct jp_jeentry e = jp_jeentry_of(w->layout, piece + i * w->layout->entry_size);
		struct jp_jerecord r;
		if (is_known(w->to, w->base + i * jp_memory_page))
			continue;
		enum look_result result = look_at_entry(w, i, &e, &r);
		if (result == LOOK_TORN)
			result = look_again(w, i, &e, &r);
		if (result == LOOK_EXTENT && take_extent(w, &e, &r))
			return -1;
	}
	return 0;
}

/* Entries are looked at right after they were read: what is freed between is seen, and what is allocated is not. Where
 * a record was looked at up to 10 ms after its entry, buffers that come and go made a loaded Puma 1 % too small. */
static int walk_leaf(struct extent_walk *w, const struct jp_jeleaf *leaf, unsigned char *piece)
{
	size_t size = w->layout->entry_size, bytes = jp_jelayout_entries(w->layout) * size;
	if (note_range(w->to, leaf->at, bytes))
		return -1;
	for (size_t done = 0; done < bytes; done += entries_at_once) {
		w->table = leaf->at + done;
		w->base = leaf->base + done / size * jp_memory_page;
		jp_memsource_copy(w->source, w->table, piece, entries_at_once);
		if (walk_piece(w, piece, entries_at_once / size))
			return -1;
	}
	return 0;
}

int jp_jeextents_walk(struct jp_memsource *source, const struct jp_jemap *map, struct jp_jeextents *x)
{
	struct extent_walk w = { .source = source, .layout = map->layout, .to = x };
	unsigned char *piece = malloc(entries_at_once);
	int failed = piece ? 0 : -1;
	*x = (struct jp_jeextents){ 0 };
	jp_memsource_forget(source);
	for (size_t i = 0; !failed && i < map->count; i++)
		failed = walk_leaf(&w, &map->leaves[i], piece);
	free(piece);
	return failed;
}

void jp_jeextents_release(struct jp_jeextents *x)
{
	free(x->items);
	free(x->units);
	*x = (struct jp_jeextents){ 0 };
}

struct jp_jeextent *jp_jeextents_find(const struct jp_jeextents *x, uint64_t address)
{
	size_t below = jp_count_below(x->items, x->count, sizeof *x->items, address + 1);
	struct jp_jeextent *extent = below ? &x->items[below - 1] : NULL;
	return extent && address - extent->base < extent->size ? extent : NULL;
}
