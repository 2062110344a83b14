#include "machine/image.h"

#include <string.h>

#include "base/search.h"
#include "base/utf8.h"

enum { longest_text = 100 };

const struct jp_piece *jp_image_piece(const struct jp_image *image, uint64_t address)
{
	const struct jp_piece *piece = jp_last_up_to(image->pieces, image->piece_count, sizeof *image->pieces, address);
	return piece && address - piece->start < piece->len ? piece : NULL;
}

const unsigned char *jp_image_bytes(const struct jp_image *image, uint64_t address, size_t *len)
{
	const struct jp_piece *piece = jp_image_piece(image, address);
	*len = piece ? piece->len - (size_t)(address - piece->start) : 0;
	return piece ? piece->bytes + (address - piece->start) : NULL;
}

bool jp_image_word(const struct jp_image *image, uint64_t address, uint64_t *value)
{
	size_t len;
	const unsigned char *bytes = jp_image_bytes(image, address, &len);
	*value = 0;
	if (!bytes || len < sizeof *value)
		return false;
	for (unsigned i = 0; i < sizeof *value; i++)
		*value |= (uint64_t)bytes[i] << 8 * i;
	return true;
}

const char *jp_image_text(const struct jp_image *image, uint64_t address)
{
	const struct jp_piece *piece = jp_image_piece(image, address);
	if (!piece || piece->code || !piece->fixed)
		return NULL;
	const char *text = (const char *)piece->bytes + (address - piece->start);
	size_t room = piece->len - (size_t)(address - piece->start), len = 0;
	room = room < longest_text + 1 ? room : longest_text + 1;
	if (!*text || !memchr(text, '\0', room))
		return NULL;
	while (text[len]) {
		size_t n = jp_utf8_len(text + len);
		if (!n || (unsigned char)text[len] < 0x20 || text[len] == 0x7f)
			return NULL;
		len += n;
	}
	return text;
}

static const struct jp_reloc *reloc_at(const struct jp_image *image, uint64_t address)
{
	const struct jp_reloc *reloc = jp_last_up_to(image->relocs, image->reloc_count, sizeof *image->relocs, address);
	return reloc && reloc->at == address ? reloc : NULL;
}

const struct jp_reloc *jp_image_reloc(const struct jp_image *image, uint64_t address)
{
	const struct jp_reloc *reloc = reloc_at(image, address);
	return reloc && reloc->word ? reloc : NULL;
}

const char *jp_image_slot_name(const struct jp_image *image, uint64_t address)
{
	const struct jp_reloc *reloc = reloc_at(image, address);
	return reloc && reloc->symbol < image->symbol_count ? image->symbols[reloc->symbol].name : NULL;
}

const char *jp_image_symbol_at(const struct jp_image *image, uint64_t address)
{
	size_t low = 0, high = image->by_value_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (image->symbols[image->by_value[mid]].value < address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == image->by_value_count || image->symbols[image->by_value[low]].value != address)
		return NULL;
	return image->symbols[image->by_value[low]].name;
}

const struct jp_function_bounds *jp_image_function(const struct jp_image *image, uint64_t address)
{
	const struct jp_function_bounds *f =
	    jp_last_up_to(image->functions, image->function_count, sizeof *image->functions, address);
	return f && address < f->end ? f : NULL;
}

const struct jp_function_bounds *jp_image_begins(const struct jp_image *image, uint64_t address)
{
	const struct jp_function_bounds *f = jp_image_function(image, address);
	return f && f->start == address ? f : NULL;
}
