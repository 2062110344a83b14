#include "machine/registered.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "machine/registrations.h"
#include "machine/rubycalls.h"

struct naming {
	const struct jp_image *image;
	uint64_t *watches;
	size_t watch_count, watch_cap;
	struct jp_intern texts;
	uint32_t *name; /* of each function of the image: a text, JP_NONE or `ambiguous` */
};

static const uint32_t ambiguous = JP_NONE - 1;

/* ---- what is looked for --------------------------------------------------------------------------- */

/* `address` leads to the function of that name; NULL: to none. */
static int watch_name(struct naming *n, const char *name, uint64_t address)
{
	const struct jp_ruby_call *what = name ? jp_ruby_call_of(name) : NULL;
	if (!what || what->kind > JP_CALL_CLASS)
		return 0;
	if (jp_array_push(n->watches, n->watch_count, n->watch_cap))
		return -1;
	n->watches[n->watch_count++] = address;
	return 0;
}

static const char *symbol_name(const struct naming *n, uint32_t symbol)
{
	return symbol < n->image->symbol_count ? n->image->symbols[symbol].name : NULL;
}

static int watch_stubs(struct naming *n, const struct jp_piece *piece)
{
	int rc = 0;
	for (uint64_t at = piece->start; !rc && at - piece->start < piece->len; at += 8) {
		uint32_t symbol;
		uint64_t target = jp_stub_target(n->image, at, &symbol);
		rc = watch_name(n, target == at ? symbol_name(n, symbol) : jp_image_symbol_at(n->image, target), at);
	}
	return rc;
}

/* The functions of Ruby by their own address, by stubs and by the loader's words. */
static int watch_calls(struct naming *n)
{
	const struct jp_image *image = n->image;
	int rc = 0;
	for (uint32_t i = 0; !rc && i < image->symbol_count; i++)
		if (image->symbols[i].value)
			rc = watch_name(n, image->symbols[i].name, image->symbols[i].value);
	for (size_t i = 0; !rc && i < image->reloc_count; i++)
		rc = watch_name(n, symbol_name(n, image->relocs[i].symbol), image->relocs[i].at);
	for (size_t i = 0; !rc && i < image->piece_count; i++)
		if (image->pieces[i].stubs)
			rc = watch_stubs(n, &image->pieces[i]);
	return rc;
}

static int make_watches(struct naming *n)
{
	if (watch_calls(n))
		return -1;
	if (n->watch_count)
		qsort(n->watches, n->watch_count, sizeof *n->watches, jp_by_first);
	return 0;
}

/* ---- names of methods ------------------------------------------------------------------------------ */

/* How often each text without a class occurs, for different functions. */
static int count_texts(const struct naming *n, const struct jp_registration *found, size_t count, uint32_t **owners)
{
	uint32_t *owner = jp_none_array(n->texts.count + 1);
	if (!owner)
		return -1;
	for (size_t i = 0; i < count; i++) {
		uint32_t *of = &owner[found[i].text];
		*of = *of == JP_NONE || *of == found[i].function ? found[i].function : ambiguous;
	}
	*owners = owner;
	return 0;
}

/* Whether a function that goes by the first may also be called by the second: a name of the same class, or the same
 * name in another one. */
static bool may_be_one(const struct jp_registration *a, const struct jp_registration *b)
{
	return a->method == b->method || (a->owner == b->owner && a->owner != JP_NONE);
}

/* The first name of each function, one with its class before one without. A function that is different methods of
 * different classes has none, and so has one without a class whose name others have, too. */
static int name_methods(struct naming *n, const struct jp_registration *found, size_t count)
{
	uint32_t *owner = NULL, *first = jp_none_array(n->image->function_count + 1);
	if (!first || count_texts(n, found, count, &owner)) {
		free(first);
		return -1;
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < count; i++) {
			const struct jp_registration *f = &found[i];
			uint32_t *of = &first[f->function];
			if ((f->owner == JP_NONE) != pass)
				continue;
			if (*of == JP_NONE) {
				*of = i;
				n->name[f->function] = pass && owner[f->text] == ambiguous ? ambiguous : f->text;
			} else if (!may_be_one(&found[*of], f)) {
				n->name[f->function] = ambiguous;
			}
		}
	free(first);
	free(owner);
	return 0;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static int copy_names(struct naming *n, struct jp_registered_names *names)
{
	for (size_t i = 0; i < n->image->function_count; i++) {
		if (n->name[i] >= ambiguous)
			continue;
		const char *text = jp_intern_get(&n->texts, n->name[i]);
		if (jp_array_push(names->items, names->count, names->cap))
			return -1;
		names->items[names->count].start = n->image->functions[i].start;
		names->items[names->count].name = jp_arena_dup(&names->arena, text, strlen(text));
		if (!names->items[names->count++].name)
			return -1;
	}
	return 0;
}

static int find_names_of(struct naming *n, const struct jp_references *references, struct jp_registered_names *names)
{
	struct jp_registration *found = NULL;
	size_t count = 0;
	if (!n->watch_count)
		return 0;
	n->name = jp_none_array(n->image->function_count + 1);
	int rc = n->name ? jp_registrations_find(n->image, references, &n->texts, &found, &count) : -1;
	if (!rc && (name_methods(n, found, count) || copy_names(n, names)))
		rc = -1;
	free(found);
	return rc;
}

int jp_registered_find(const struct jp_image *image, struct jp_references *references,
                       struct jp_registered_names *names)
{
	struct naming n = { .image = image };
	int rc = make_watches(&n);
	if (!rc && n.watch_count)
		rc = jp_references_find(image, n.watches, n.watch_count, references);
	if (!rc)
		rc = find_names_of(&n, references, names);
	jp_intern_release(&n.texts);
	free(n.watches);
	free(n.name);
	return rc;
}

void jp_registered_release(struct jp_registered_names *names)
{
	free(names->items);
	jp_arena_release(&names->arena);
	*names = (struct jp_registered_names){ 0 };
}
