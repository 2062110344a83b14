#include "outside/lostblocks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "input/maps.h"

enum {
	most_lost = 4 << 20,
	looked_at = 32,      /* words of a block */
	most_contents = 512, /* that are told apart */
	most_lost_rows = 64, /* that are written; the rest is added up */
	content_name = 128,
};

/* ---- the list ------------------------------------------------------------------------------------------------ */

static size_t read_block_head(struct jp_memsource *m, uint64_t address, uint64_t size, uint64_t words[looked_at])
{
	size_t bytes = size < looked_at * sizeof *words ? (size_t)size / 8 * 8 : looked_at * sizeof *words;
	jp_memsource_copy(m, address, words, bytes);
	return bytes / 8;
}

int jp_lostblocks_add(struct jp_lostblocks *l, struct jp_memsource *m, const struct jp_jeextent *e, unsigned place)
{
	uint64_t size = jp_jeclass_size(e->class), words[looked_at], hash = 0;
	uint64_t address = e->first + (e->slab ? place * size : 0);
	size_t count = read_block_head(m, address, size, words);
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15U ^ hash >> 29;
	if (l->count == most_lost) {
		l->too_many = true;
		return 0;
	}
	if (jp_array_push(l->items, l->count, l->cap))
		return -1;
	l->items[l->count++] = (struct jp_lostblock){ address, (uint32_t)(hash >> 32), e->class };
	return 0;
}

void jp_lostblocks_keep(struct jp_lostblocks *l, const struct jp_lostblocks *before)
{
	size_t kept = 0, k = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct jp_lostblock *now = &l->items[i];
		while (k < before->count && before->items[k].address < now->address)
			k++;
		const struct jp_lostblock *was = k < before->count ? &before->items[k] : NULL;
		if (was && was->address == now->address && was->class == now->class && was->mark == now->mark)
			l->items[kept++] = *now;
	}
	l->count = kept;
	l->known = l->known && before->known;
}

uint64_t jp_lostblocks_bytes(const struct jp_lostblocks *l)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < l->count; i++)
		bytes += jp_jeclass_size(l->items[i].class);
	return bytes;
}

void jp_lostblocks_release(struct jp_lostblocks *l)
{
	free(l->items);
	*l = (struct jp_lostblocks){ 0 };
}

/* ---- what is in one ------------------------------------------------------------------------------------------- */

enum content_kind { CONTENT_UNKNOWN, CONTENT_FILE, CONTENT_VTABLE, CONTENT_REST };

struct lost_content {
	enum content_kind kind;
	char file[content_name]; /* "" */
	char type[content_name]; /* of a C++ object, mangled; "" */
	uint64_t size, bytes, blocks;
};

/* The name of the file that an address lies in; NULL: in none. */
static const char *file_of_address(const struct jp_memsource *m, uint64_t address)
{
	const struct jprof_map *map = jp_maps_find(m->maps, address);
	return map && *map->path == '/' ? strrchr(map->path, '/') + 1 : NULL;
}

/* The type of the C++ object that begins with a vtable (Itanium C++ ABI, 2.5 and 2.9.3): before the vtable's functions
 * stands the address of the type's record, and its second word leads to the mangled name. */
static bool type_of_object(struct jp_memsource *m, uint64_t vtable, struct lost_content *c)
{
	uint64_t type = vtable % 8 ? 0 : jp_memsource_word(m, vtable - 8);
	uint64_t at = type && type % 8 == 0 && file_of_address(m, type) ? jp_memsource_word(m, type + 8) : 0;
	if (!at || !file_of_address(m, at) || !file_of_address(m, jp_memsource_word(m, type)))
		return false;
	jp_memsource_copy(m, at, c->type, sizeof c->type);
	size_t len = strnlen(c->type, sizeof c->type);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)c->type[i]) && c->type[i] != '_')
			return false;
	return len && len < sizeof c->type;
}

static void look_at_content(struct jp_memsource *m, uint64_t address, uint64_t size, struct lost_content *c)
{
	uint64_t words[looked_at];
	size_t count = read_block_head(m, address, size, words);
	const char *file = count ? file_of_address(m, words[0]) : NULL;
	*c = (struct lost_content){ .size = size };
	bool object = file && type_of_object(m, words[0], c);
	for (size_t i = 1; i < count && !file; i++)
		file = file_of_address(m, words[i]);
	c->kind = object ? CONTENT_VTABLE : file ? CONTENT_FILE : CONTENT_UNKNOWN;
	if (!object)
		*c->type = 0;
	snprintf(c->file, sizeof c->file, "%s", file ? file : "");
}

/* ---- sums ---------------------------------------------------------------------------------------------------- */

struct lost_sums {
	struct lost_content rows[most_contents];
	size_t count;
	uint64_t bytes;
};

static void add_content(struct lost_sums *s, const struct lost_content *c, uint64_t bytes)
{
	size_t i = 0;
	while (i < s->count && (s->rows[i].size != c->size || s->rows[i].kind != c->kind ||
	                        strcmp(s->rows[i].file, c->file) != 0 || strcmp(s->rows[i].type, c->type) != 0))
		i++;
	i = i < most_contents ? i : most_contents - 1;
	if (i == s->count)
		s->rows[s->count++] = i < most_contents - 1 ? *c : (struct lost_content){ .kind = CONTENT_REST };
	s->rows[i].bytes += bytes;
	s->rows[i].blocks++;
	s->bytes += bytes;
}

static int larger_content(const void *a, const void *b)
{
	const struct lost_content *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, jp_order_by(x->size, y->size, strcmp(x->file, y->file)));
}

static void put_lost_content(struct jp_jsonout *j, const struct lost_content *c)
{
	static const char *const keys[] = { "unknown", "file", "vtable", "rest" };
	jp_jsonout_open(j, NULL, '{', true);
	jp_jsonout_uint(j, "size", c->size);
	jp_jsonout_string(j, "kind", keys[c->kind]);
	jp_jsonout_string(j, "name", c->file);
	if (*c->type)
		jp_jsonout_string(j, "type", c->type);
	jp_jsonout_uint(j, "bytes", c->bytes);
	jp_jsonout_uint(j, "blocks", c->blocks);
	jp_jsonout_close(j);
}

static void put_sums_of_lost(struct jp_jsonout *j, struct lost_sums *s)
{
	struct lost_content rest = { .kind = CONTENT_REST };
	qsort(s->rows, s->count, sizeof *s->rows, larger_content);
	jp_jsonout_uint(j, "bytes", s->bytes);
	jp_jsonout_open(j, "rows", '[', false);
	for (size_t i = 0; i < s->count; i++)
		if (i < most_lost_rows) {
			put_lost_content(j, &s->rows[i]);
		} else {
			rest.bytes += s->rows[i].bytes;
			rest.blocks += s->rows[i].blocks;
		}
	if (rest.blocks)
		put_lost_content(j, &rest);
	jp_jsonout_close(j);
}

int jp_lostblocks_write(const struct jp_lostblocks *l, struct jp_memsource *m, const struct jp_jeextents *extents,
                        bool padded, const struct jprof_heap_opts *opts, struct jp_jsonout *j)
{
	struct lost_sums *sums = calloc(1, sizeof *sums);
	if (!sums)
		return -1;
	for (size_t i = 0; l->known && i < l->count; i++) {
		const struct jp_jeextent *e = jp_jeextents_find(extents, l->items[i].address);
		struct lost_content content;
		look_at_content(m, l->items[i].address, jp_jeclass_size(l->items[i].class), &content);
		add_content(sums, &content, e ? jp_jeblock_bytes(m, e, padded) : 0);
		if (opts->lost)
			opts->lost(opts->context, l->items[i].address, content.size);
	}
	jp_jsonout_open(j, "unreachable", '{', false);
	jp_jsonout_bool(j, "known", l->known);
	jp_jsonout_bool(j, "too_many", l->too_many);
	jp_jsonout_uint(j, "blocks", l->known ? l->count : 0);
	jp_jsonout_uint(j, "mappings", l->mappings);
	jp_jsonout_uint(j, "stacks", l->stacks);
	put_sums_of_lost(j, sums);
	jp_jsonout_close(j);
	free(sums);
	return 0;
}
