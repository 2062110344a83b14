#include "outside/copied.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "collect/target.h"
#include "input/maps.h"
#include "outside/jeheap.h"
#include "outside/livesource.h"
#include "outside/rubycensus.h"

/* Rows before they are sorted: of each class of Ruby's objects, of each other kind, and of each size of blocks. */
enum {
	most_copied_classes = 64, /* the last one stands for all others */
	row_kinds = most_copied_classes,
	row_blocks = row_kinds + JPROF_COPIES,
	rows_in_all = row_blocks + jp_je_classes,
};

enum { words_on_page = jp_memory_page / 8, most_on_page = 24 };

/* Of an object that has a class: its address, and 0 of others. */
struct copied_class {
	uint64_t class;
	unsigned type;
	char name[jp_ruby_name_size]; /* "": not known */
};

struct jprof_copies {
	struct jprof_copies_total total;
	struct copied_class classes[most_copied_classes];
	unsigned class_count;
	struct jprof_copy rows[rows_in_all];
	struct jprof_copy sorted[rows_in_all];
	size_t count; /* of sorted */
};

/* A comparison under way. */
struct comparison {
	struct jp_memsource *process, *parent;
	struct jp_jeheap *jemalloc;
	struct jp_jeextents extents;
	struct jp_rubypages pages;
	uint64_t *records; /* of Ruby's pages: ascending addresses, where the marks of the collector are */
	size_t record_count, record_cap;
	struct jprof_copies *copies;
	uint64_t here[words_on_page], there[words_on_page]; /* one page of the process, and of the parent */
	uint64_t at;                                        /* its address */
	unsigned on_page[most_on_page];                     /* rows that take part of it */
	size_t on_page_count;
	uint64_t last; /* the object or block that was counted last */
};

/* ---- what a word belongs to ---------------------------------------------------------------------------------------
 */

/* The first word of a page is the address of its record. */
static int list_records(struct comparison *c)
{
	for (size_t i = 0; i < c->pages.count; i++) {
		if (jp_array_push(c->records, c->record_count, c->record_cap))
			return -1;
		c->records[c->record_count++] = jp_memsource_word(c->process, c->pages.items[i].at);
	}
	if (c->record_count)
		qsort(c->records, c->record_count, sizeof *c->records, jp_by_first);
	return 0;
}

/* A record has 128 bytes or less, and up to six bitmaps with a bit for each place of a slot. */
static bool is_in_record(const struct comparison *c, uint64_t address)
{
	uint32_t size = c->pages.count ? c->pages.items[0].size : 0;
	uint64_t most = 128 + 6 * ((size / jp_ruby_least_slot + 63) / 64 * 8);
	size_t below = jp_count_below(c->records, c->record_count, sizeof *c->records, address + 1);
	return below && address - c->records[below - 1] < most;
}

/* A word of the page that is compared, or of one nearby. */
static uint64_t word_of(struct comparison *c, struct jp_memsource *source, uint64_t address)
{
	const uint64_t *page = source == c->process ? c->here : c->there;
	return address - c->at < jp_memory_page ? page[(address - c->at) / 8] : jp_memsource_word(source, address);
}

static unsigned row_of_class(struct jprof_copies *c, uint64_t class, unsigned type)
{
	unsigned i = 0;
	while (i < c->class_count && (c->classes[i].class != class || c->classes[i].type != type))
		i++;
	if (i == most_copied_classes - 1 || i < c->class_count)
		return i;
	c->classes[c->class_count++] = (struct copied_class){ .class = class, .type = type };
	return i;
}

/* The collector marks how old an object is in its first word: FL_PROMOTED, bits 5 and 6 (3.1 to 3.4). */
static unsigned row_of_slot(struct comparison *c, const struct jp_rubypage *page, uint64_t address, uint64_t *owner)
{
	const uint64_t ages = 3 << 5;
	if (address < page->first || (address - page->first) / page->slot >= page->count)
		return row_kinds + JPROF_COPY_GC;
	uint64_t slot = address - (address - page->first) % page->slot;
	uint64_t now = word_of(c, c->process, slot), before = word_of(c, c->parent, slot);
	unsigned type = now & 31, was = before & 31;
	bool lives = jp_ruby_type_name(type), lived = jp_ruby_type_name(was);
	*owner = slot;
	if (!lives && lived)
		return row_kinds + JPROF_COPY_SWEPT;
	if (lives && type != was)
		return row_kinds + JPROF_COPY_NEW_OBJECTS;
	bool aged = address == slot && !((now ^ before) & ~ages);
	if (!lives || aged)
		return row_kinds + JPROF_COPY_GC;
	return row_of_class(c->copies, jp_ruby_has_class(type) ? word_of(c, c->process, slot + 8) : 0, type);
}

static unsigned row_of_block(struct comparison *c, const struct jp_jeextent *e, uint64_t address, uint64_t *owner)
{
	uint64_t size = e->class < jp_je_classes ? jp_jeclass_size(e->class) : 0;
	if (e->state != JP_JE_ACTIVE || !size || address < e->first)
		return row_kinds + JPROF_COPY_FREED;
	uint64_t place = e->slab ? (address - e->first) / size : 0;
	if (e->slab ? place >= e->places || (e->free[place / 64] >> place % 64 & 1) : e->cached)
		return row_kinds + JPROF_COPY_FREED;
	*owner = e->first + place * size;
	return is_in_record(c, address) ? row_kinds + JPROF_COPY_GC : row_blocks + e->class;
}

static bool is_on_a_stack(const struct jp_memsource *m, const struct jprof_map *map)
{
	bool found = !strncmp(map->path, "[stack", 6);
	for (size_t i = 0; i < m->stack_count && !found; i++)
		found = m->stacks[i] >= map->start && m->stacks[i] < map->limit;
	return found;
}

/* *owner: the object or block, 0 where there is none. */
static unsigned row_of_word(struct comparison *c, const struct jprof_map *map, uint64_t address, uint64_t *owner)
{
	const struct jp_rubypage *page = jp_rubypages_at(&c->pages, address);
	*owner = 0;
	if (page)
		return row_of_slot(c, page, address, owner);
	const struct jp_jeextent *e = jp_jeextents_find(&c->extents, address);
	if (e)
		return row_of_block(c, e, address, owner);
	if (is_in_record(c, address))
		return row_kinds + JPROF_COPY_GC;
	if (c->jemalloc->version && jp_jeextents_own(&c->extents, address / jp_memory_unit))
		return row_kinds + JPROF_COPY_MALLOC;
	if (*map->path == '/')
		return row_kinds + JPROF_COPY_FILES;
	return row_kinds + (is_on_a_stack(c->process, map) ? JPROF_COPY_STACKS : JPROF_COPY_OTHER);
}

/* ---- pages ------------------------------------------------------------------------------------------------------ */

static void note_copied(struct comparison *c, unsigned row, uint64_t owner)
{
	size_t i = 0;
	while (i < c->on_page_count && c->on_page[i] != row)
		i++;
	if (i == c->on_page_count && i < most_on_page)
		c->on_page[c->on_page_count++] = row;
	if (owner && owner != c->last)
		c->copies->rows[row].objects++;
	c->last = owner ? owner : c->last;
}

/* All that was changed on a page has an equal part of it. */
static void share_page(struct comparison *c)
{
	for (size_t i = 0; i < c->on_page_count; i++) {
		struct jprof_copy *row = &c->copies->rows[c->on_page[i]];
		row->bytes += (double)jp_memory_page / (double)c->on_page_count;
		row->pages++;
	}
}

static void compare_page(struct comparison *c, const struct jprof_map *map, uint64_t at)
{
	c->at = at;
	c->on_page_count = 0;
	if (!jp_memsource_read(c->process, at, c->here, sizeof c->here) ||
	    !jp_memsource_read(c->parent, at, c->there, sizeof c->there))
		return;
	for (unsigned i = 0; i < words_on_page; i++) {
		uint64_t owner;
		if (c->here[i] == c->there[i])
			continue;
		unsigned row = row_of_word(c, map, at + 8 * i, &owner);
		note_copied(c, row, owner);
	}
	if (!c->on_page_count)
		note_copied(c, row_kinds + JPROF_COPY_EQUAL, 0);
	share_page(c);
	c->copies->total.copied += jp_memory_page;
}

static void compare_unit(struct comparison *c, const struct jprof_map *map, uint64_t number)
{
	const unsigned pages = jp_memory_unit / jp_memory_page;
	const struct jp_memory_pages here = *jp_memsource_unit(c->process, number),
				     there = *jp_memsource_unit(c->parent, number);
	for (unsigned i = 0; i < pages && c->process->left && c->parent->left; i++) {
		uint64_t at = number * jp_memory_unit + (uint64_t)i * jp_memory_page, bit = 1ULL << i % 64;
		if (at < map->start || at >= map->limit || !(here.there[i / 64] & bit))
			continue;
		if (!(here.alone[i / 64] & bit))
			c->copies->total.shared += jp_memory_page;
		else if ((there.there[i / 64] | there.swapped[i / 64]) & bit)
			compare_page(c, map, at);
		else
			c->copies->total.fresh += jp_memory_page;
	}
}

static void compare_maps(struct comparison *c)
{
	for (size_t i = 0; i < jprof_maps_count(c->process->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(c->process->maps, i);
		if (!map->writable || !map->readable || map->limit > INT64_MAX)
			continue;
		for (uint64_t at = map->start / jp_memory_unit; at <= (map->limit - 1) / jp_memory_unit; at++)
			compare_unit(c, map, at);
	}
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static int by_copied_bytes(const void *a, const void *b)
{
	const struct jprof_copy *x = a, *y = b;
	if (x->bytes != y->bytes)
		return (x->bytes < y->bytes) - (x->bytes > y->bytes);
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : jp_order(x->size, y->size);
}

static const char *name_of_copied(const struct jprof_copies *c, unsigned i)
{
	const struct copied_class *class = &c->classes[i];
	return i == most_copied_classes - 1 ? "" : *class->name ? class->name : jp_ruby_type_name(class->type);
}

static void sort_copies(struct jprof_copies *c)
{
	c->count = 0;
	for (unsigned i = 0; i < rows_in_all; i++) {
		struct jprof_copy *row = &c->rows[i];
		if (!row->pages)
			continue;
		row->kind = i >= row_blocks ? JPROF_COPY_BLOCKS
		            : i < row_kinds ? JPROF_COPY_OBJECTS
		                            : (enum jprof_copy_kind)(i - row_kinds);
		row->name = i < row_kinds ? name_of_copied(c, i) : "";
		row->size = i >= row_blocks ? jp_jeclass_size(i - row_blocks) : 0;
		c->sorted[c->count++] = *row;
	}
	if (c->count)
		qsort(c->sorted, c->count, sizeof *c->sorted, by_copied_bytes);
}

/* 0, or -1 when memory is short. */
static int name_copied_classes(struct comparison *c, const struct jp_mapped_files *files)
{
	uint64_t variables[jp_ruby_known];
	if (!c->copies->class_count)
		return 0;
	if (jp_ruby_variables(files, c->process, variables))
		return -1;
	struct jp_rubynames names = jp_rubynames_learn(c->process, &c->pages, variables);
	for (unsigned i = 0; i < c->copies->class_count && names.known; i++) {
		struct copied_class *class = &c->copies->classes[i];
		if (class->class && !jp_rubynames_of(c->process, &c->pages, &names, class->class, class->name))
			*class->name = '\0';
	}
	return 0;
}

static int compare(struct comparison *c, const struct jp_mapped_files *files)
{
	if (!c->jemalloc || jp_jeheap_take(c->process, c->jemalloc, &c->extents) ||
	    jp_rubypages_find(c->process, &c->pages) || list_records(c))
		return -1;
	compare_maps(c);
	if (name_copied_classes(c, files))
		return -1;
	c->copies->total.processes++;
	sort_copies(c->copies);
	return 0;
}

int jp_copies_find(struct jp_memsource *process, struct jp_memsource *parent, const struct jp_mapped_files *files,
                   struct jprof_copies **copies)
{
	struct comparison *c = calloc(1, sizeof *c);
	bool first = !*copies;
	*copies = first ? calloc(1, sizeof **copies) : *copies;
	int rc = -1;
	if (c && *copies) {
		*c = (struct comparison){ .process = process, .parent = parent, .copies = *copies };
		c->jemalloc = calloc(1, sizeof *c->jemalloc);
		rc = compare(c, files);
		jp_jeextents_release(&c->extents);
		jp_rubypages_release(&c->pages);
		free(c->records);
		free(c->jemalloc);
	}
	free(c);
	if (rc && first) {
		free(*copies);
		*copies = NULL;
	}
	return rc;
}

/* A fork has its parent's stack where the parent has it, which the kernel puts anywhere for each program that begins.
 */
static bool is_fork_of(const struct jp_memsource *process, const struct jp_memsource *parent)
{
	const struct jp_memsource *both[] = { process, parent };
	uint64_t limits[2] = { 0, 0 };
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < jprof_maps_count(both[k]->maps); i++)
			if (!strcmp(jprof_maps_at(both[k]->maps, i)->path, "[stack]"))
				limits[k] = jprof_maps_at(both[k]->maps, i)->limit;
	return limits[0] && limits[0] == limits[1];
}

int jprof_target_copies(const struct jprof_target *process, const struct jprof_target *parent,
                        struct jprof_copies **copies, struct jprof_error *err)
{
	if (jp_null(err, process, parent, copies))
		return JPROF_E_ARGUMENT;
	struct jp_memsource *here = NULL, *there = NULL;
	int rc = jp_livesource_open(process, &here, err);
	rc = rc ? rc : jp_livesource_open(parent, &there, err);
	if (!rc && !is_fork_of(here, there))
		rc = jp_error(err, JPROF_E_FORMAT, NULL, 0, "process %d was not forked from process %d", process->pid,
		              parent->pid);
	const struct jp_mapped_files files = jp_files_of_target(process);
	if (!rc && jp_copies_find(here, there, &files, copies))
		rc = jp_error_nomem(err);
	jp_memsource_close(here);
	jp_memsource_close(there);
	return rc;
}

size_t jprof_copies_count(const struct jprof_copies *copies)
{
	return copies ? copies->count : 0;
}

const struct jprof_copy *jprof_copies_at(const struct jprof_copies *copies, size_t i)
{
	return copies && i < copies->count ? &copies->sorted[i] : NULL;
}

struct jprof_copies_total jprof_copies_total(const struct jprof_copies *copies)
{
	return copies ? copies->total : (struct jprof_copies_total){ 0 };
}

void jprof_copies_free(struct jprof_copies *copies)
{
	free(copies);
}
