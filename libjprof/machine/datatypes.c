#include "machine/datatypes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

enum { word = 8, reserved = 5, parent = 6, data = 7, flags = 8, type_words = 9 };

/* Of flags, RUBY_FL_USER7 is the last that any Ruby uses. */
static const uint64_t most_flags = 1 << 20;

/* The pointer that memory holds once loaded: an address in the image, 0 for null or another file's. False: what is
 * there is no pointer. */
static bool pointer_at(const struct jp_image *image, uint64_t at, uint64_t *value)
{
	const struct jp_reloc *reloc = jp_image_reloc(image, at);
	if (reloc && reloc->symbol < image->symbol_count) {
		uint64_t own = image->symbols[reloc->symbol].value;
		*value = own ? own + reloc->value : 0;
		return true;
	}
	if (reloc) {
		*value = reloc->value;
		return true;
	}
	return jp_image_word(image, at, value) && (!*value || (image->placed && jp_image_piece(image, *value)));
}

static bool is_plain(const struct jp_image *image, uint64_t at, uint64_t most)
{
	uint64_t value;
	return !jp_image_reloc(image, at) && jp_image_word(image, at, &value) && value <= most;
}

/* A function, or null. RUBY_DEFAULT_FREE is -1; a list of offsets may stand in the place of mark. */
static bool type_functions(const struct jp_image *image, struct jp_data_type *type)
{
	bool any = false;
	for (unsigned i = 0; i < JP_TYPE_FUNCTIONS; i++) {
		uint64_t at = type->at + (i + 1) * word, value = 0, raw = 0;
		bool pointer = pointer_at(image, at, &value);
		if (!pointer && !(jp_image_word(image, at, &raw) && raw == UINT64_MAX))
			return false;
		const struct jp_piece *piece = value ? jp_image_piece(image, value) : NULL;
		if (jp_image_begins(image, value))
			type->functions[i] = value;
		else if (value && !(i == 0 && piece && !piece->code) && !(piece && piece->stubs))
			return false;
		any = any || type->functions[i];
	}
	return any;
}

static bool looks_like_type(const struct jp_image *image, uint64_t at, struct jp_data_type *type)
{
	uint64_t name, other;
	*type = (struct jp_data_type){ .at = at };
	if (at > UINT64_MAX - type_words * word || !pointer_at(image, at, &name) || !name)
		return false;
	type->name = jp_image_text(image, name);
	return type->name && is_plain(image, at + reserved * word, 0) &&
	       is_plain(image, at + flags * word, most_flags) && pointer_at(image, at + parent * word, &type->parent) &&
	       jp_image_word(image, at + data * word, &other) && type_functions(image, type);
}

static int try_type(const struct jp_image *image, uint64_t at, struct jp_data_types *types)
{
	struct jp_data_type type;
	if (!looks_like_type(image, at, &type))
		return 0;
	if (jp_array_push(types->items, types->count, types->cap))
		return -1;
	types->items[types->count++] = type;
	return 0;
}

int jp_data_types_find(const struct jp_image *image, struct jp_data_types *types)
{
	int rc = 0;
	for (size_t i = 0; !rc && !image->placed && i < image->reloc_count; i++)
		rc = try_type(image, image->relocs[i].at, types);
	for (size_t p = 0; !rc && image->placed && p < image->piece_count; p++)
		for (size_t i = 0; !rc && !image->pieces[p].code && i + type_words * word <= image->pieces[p].len;
		     i += word)
			rc = try_type(image, image->pieces[p].start + i, types);
	return rc;
}

int jp_data_types_watch(const struct jp_image *image, const struct jp_data_types *types,
                        int (*add)(void *context, uint64_t address, size_t type), void *context)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < types->count; i++)
		rc = add(context, types->items[i].at, i);
	for (size_t i = 0; !rc && types->count && i < image->reloc_count; i++) {
		uint64_t value;
		const struct jp_data_type *type =
		    pointer_at(image, image->relocs[i].at, &value)
			? jp_last_up_to(types->items, types->count, sizeof *types->items, value)
			: NULL;
		if (type && type->at == value)
			rc = add(context, image->relocs[i].at, (size_t)(type - types->items));
	}
	return rc;
}

const char *jp_type_function_name(unsigned function)
{
	static const char *const names[JP_TYPE_FUNCTIONS] = { "mark", "free", "size", "compact" };
	return names[function];
}

void jp_data_types_release(struct jp_data_types *types)
{
	free(types->items);
	*types = (struct jp_data_types){ 0 };
}
