#include "outside/rubycensus.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum {
	type_object = 1,
	most_classes = jp_ruby_classes / 4 * 3,
	most_rows = 60, /* that are written: own classes first */
	most_own_rows = 30,
};

/* ---- counting ------------------------------------------------------------------------------------------------ */

/* The tally of a class, made when it is new; NULL: there are too many. */
static struct jp_rubytally *tally_of(struct jp_rubycensus *c, uint64_t class, unsigned type, bool make)
{
	size_t i = (class >> 3) * 0x9e3779b97f4a7c15U >> 48;
	while (c->classes[i].type && c->classes[i].class != class)
		i = (i + 1) % jp_ruby_classes;
	if (c->classes[i].type)
		return &c->classes[i];
	if (!make || c->used == most_classes) {
		c->cut = c->cut || make;
		return NULL;
	}
	c->classes[i] = (struct jp_rubytally){ .class = class, .type = type };
	c->used++;
	return &c->classes[i];
}

bool jp_ruby_has_class(unsigned type)
{
	return jp_ruby_type_name(type) && type != jp_ruby_type_class && type != jp_ruby_type_module &&
	       type != jp_ruby_type_imemo && type != jp_ruby_type_iclass;
}

static void count_rubypage(struct jp_rubycensus *c, const struct jp_rubypage *p, const unsigned char *bytes)
{
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t words[2];
		memcpy(words, bytes + (p->first - p->at) + (size_t)i * p->slot, sizeof words);
		unsigned type = words[0] & 31;
		bool is_object = jp_ruby_type_name(type);
		struct jp_rubytally *tally = is_object ? &c->types[type] : NULL;
		for (int k = 0; k < 2 && tally; k++) {
			tally->count++;
			tally->slots += p->slot;
			tally = !k && jp_ruby_has_class(type) ? tally_of(c, words[1], type, true) : NULL;
		}
		c->free_slots += !is_object;
		c->free_bytes += is_object ? 0 : p->slot;
	}
	c->slots += p->count;
}

/* ---- whose a class is ---------------------------------------------------------------------------------------- */

/* Where a constant was set, if that is the program's own: neither Ruby's nor a gem's. */
static bool is_own_file(const char *path)
{
	size_t len = strlen(path);
	bool ruby = len > 3 && (!strcmp(path + len - 3, ".rb") || !strcmp(path + len - 3, ".ru"));
	return ruby && *path != '<' && !strstr(path, "/gems/") && !strstr(path, "/lib/ruby/");
}

/* The record of a constant (rb_const_entry_t, which 2.x to 3.4 have alike): flag and line, value, file. It proves
 * itself: the value is a class that has objects, the file a string that ends in .rb. */
static void take_constant(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                          struct jp_rubycensus *c, const uint64_t record[3])
{
	enum { most_line = 1 << 24, most_flag = 0xfff };
	char path[512];
	uint64_t line = record[0] >> 32;
	if (!line || line > most_line || (uint32_t)record[0] > most_flag || record[1] % 8 || record[2] % 8)
		return;
	struct jp_rubytally *tally = tally_of(c, record[1], 0, false);
	if (tally && jp_rubynames_text(m, pages, names, record[2], path, sizeof path))
		tally->own = is_own_file(path);
}

/* 0, or -1 when memory is short. */
static int look_for_constants_in(struct jp_memsource *m, const struct jp_rubypages *pages,
                                 const struct jp_rubynames *names, const struct jp_othermalloc *other,
                                 struct jp_rubycensus *c)
{
	struct jp_memwindow *w = malloc(sizeof *w);
	size_t list = 0;
	uint64_t at, place = 0;
	if (!w)
		return -1;
	jp_memwindow_open(w, m);
	while ((at = jp_othermalloc_next(other, &list, &place))) {
		const uint64_t record[3] = { jp_memwindow_word(w, at), jp_memwindow_word(w, at + 8),
			                     jp_memwindow_word(w, at + 16) };
		take_constant(m, pages, names, c, record);
	}
	free(w);
	return 0;
}

static void look_for_constants(struct jp_memsource *m, const struct jp_rubypages *pages,
                               const struct jp_rubynames *names, const struct jp_jeextents *x, struct jp_rubycensus *c)
{
	enum { class_of_records = 2, words = 4 };
	uint64_t slab[jp_je_places * words];
	for (size_t i = 0; i < x->count; i++) {
		const struct jp_jeextent *e = &x->items[i];
		if (!e->slab || e->class != class_of_records || e->places * words * 8U > sizeof slab)
			continue;
		jp_memsource_copy(m, e->first, slab, e->places * words * 8U);
		for (unsigned k = 0; k < e->places; k++)
			if (!(e->free[k / 64] >> k % 64 & 1))
				take_constant(m, pages, names, c, slab + (size_t)k * words);
	}
}

/* ---- names --------------------------------------------------------------------------------------------------- */

static int by_name_of_class(const void *a, const void *b)
{
	const struct jp_rubytally *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : jp_order(x->type, y->type);
}

static int own_and_larger_first(const void *a, const void *b)
{
	const struct jp_rubytally *x = a, *y = b;
	if (x->own != y->own)
		return x->own ? -1 : 1;
	return x->slots != y->slots ? (x->slots < y->slots) - (x->slots > y->slots) : strcmp(x->name, y->name);
}

/* Joins those of one name: singleton classes have that of their class. What has its type's own name has no row. */
static void join_by_name(struct jp_rubycensus *c)
{
	size_t kept = 0;
	qsort(c->classes, c->used, sizeof *c->classes, by_name_of_class);
	for (size_t i = 0; i < c->used; i++) {
		struct jp_rubytally *t = &c->classes[i], *last = kept ? &c->classes[kept - 1] : NULL;
		if (!*t->name || !strcmp(t->name, jp_ruby_type_name(t->type)))
			continue;
		if (last && !strcmp(last->name, t->name)) {
			last->count += t->count;
			last->slots += t->slots;
			last->own = last->own || t->own;
		} else {
			c->classes[kept++] = *t;
		}
	}
	c->class_count = kept;
	qsort(c->classes, kept, sizeof *c->classes, own_and_larger_first);
}

static void name_tallies(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                         struct jp_rubycensus *c)
{
	size_t used = 0;
	for (size_t i = 0; i < jp_ruby_classes; i++) {
		struct jp_rubytally *t = &c->classes[i];
		if (t->type && !jp_rubynames_of(m, pages, names, t->class, t->name))
			*t->name = 0;
		if (t->type)
			c->classes[used++] = *t;
	}
	join_by_name(c);
}

/* Ruby to 3.0, and later ones where pages have another size than they think, ask malloc: then it is jemalloc's, too. */
static void count_if_malloc_gave(struct jp_rubycensus *c, const struct jp_jeextents *x, const struct jp_rubypage *p,
                                 uint64_t bytes)
{
	const struct jp_jeextent *e = jp_jeextents_find(x, p->at);
	if (!e || e->slab || e->state != JP_JE_ACTIVE || e->class >= jp_je_classes || e->cached)
		return;
	c->malloc_pages++;
	c->malloc_bytes += bytes;
	c->malloc_size = jp_jeclass_size(e->class);
}

int jp_rubycensus_take(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       const struct jp_jeextents *extents, const struct jp_othermalloc *other, struct jp_rubycensus *c)
{
	*c = (struct jp_rubycensus){ .pages = pages->count, .named = names->known };
	unsigned char *bytes = malloc(jp_ruby_most_page);
	c->classes = calloc(jp_ruby_classes, sizeof *c->classes);
	for (size_t i = 0; bytes && c->classes && i < pages->count; i++) {
		const struct jp_rubypage *p = &pages->items[i];
		jp_memsource_copy(m, p->at, bytes, p->size);
		uint64_t touched = p->size - jp_memsource_untouched(m, p->at, p->size);
		c->bytes += touched;
		count_if_malloc_gave(c, extents, p, touched);
		count_rubypage(c, p, bytes);
	}
	int failed = bytes && c->classes ? 0 : -1;
	free(bytes);
	if (!failed && names->known) {
		look_for_constants(m, pages, names, extents, c);
		failed = look_for_constants_in(m, pages, names, other, c);
		name_tallies(m, pages, names, c);
	}
	return failed;
}

void jp_rubycensus_release(struct jp_rubycensus *c)
{
	free(c->classes);
	*c = (struct jp_rubycensus){ 0 };
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void put_tally(struct jp_jsonout *j, const char *name, const struct jp_rubytally *t)
{
	jp_jsonout_put(j, "{name:%s count:%ju slots:%ju", name, t->count, t->slots);
	jp_jsonout_put(j, t->own ? "own:%i}" : "}", true);
}

void jp_rubycensus_write(const struct jp_rubycensus *c, struct jp_jsonout *j)
{
	size_t own = 0;
	jp_jsonout_put(j, "ruby:{\npages:%ju bytes:%ju slots:%ju free_slots:%ju free_bytes:%ju named:%i", c->pages,
	               c->bytes, c->slots, c->free_slots, c->free_bytes, c->named);
	if (c->malloc_pages)
		jp_jsonout_put(j, "in_malloc:{pages:%ju bytes:%ju size:%ju}", c->malloc_pages, c->malloc_bytes,
		               c->malloc_size);
	jp_jsonout_put(j, "objects:{\ncomplete:%i types:[\n", !c->cut);
	for (unsigned i = 0; i < jp_ruby_types; i++)
		if (c->types[i].count)
			put_tally(j, jp_ruby_type_name(i), &c->types[i]);
	jp_jsonout_put(j, "]classes:[\n");
	for (size_t i = 0, rows = 0; i < c->class_count && rows < most_rows; i++) {
		if (c->classes[i].own && own++ >= most_own_rows)
			continue;
		put_tally(j, c->classes[i].name, &c->classes[i]);
		rows++;
	}
	jp_jsonout_put(j, "]}}");
}
