#include "code_range.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* .eh_frame_hdr: a version, three encodings, a pointer, a count, and the sorted table of places relative to the header.
 */
enum { VERSION = 1, COUNT_UDATA4 = 0x03, TABLE_DATAREL_SDATA4 = 0x3b, HEAD = 12 };

struct entry {
	int32_t function, description;
};

static const unsigned char *find_header(const void *image)
{
	const ElfW(Ehdr) *header = image;
	const ElfW(Phdr) *ph = (const void *)((const char *)image + header->e_phoff), *end = ph + header->e_phnum;
	const ElfW(Phdr) *found = NULL;
	uintptr_t base = (uintptr_t)image;
	for (; ph < end; ph++) {
		if (ph->p_type == PT_GNU_EH_FRAME)
			found = ph;
		if (ph->p_type == PT_LOAD && ph->p_offset == 0)
			base = (uintptr_t)image - ph->p_vaddr;
	}
	return found ? (const unsigned char *)(base + found->p_vaddr) : NULL;
}

static uintptr_t function_at(const unsigned char *header, uint32_t i)
{
	struct entry entry;
	memcpy(&entry, header + HEAD + i * sizeof entry, sizeof entry);
	return (uintptr_t)header + (uintptr_t)(intptr_t)entry.function;
}

bool code_range_find(const void *image, uintptr_t address, struct code_range *range)
{
	const unsigned char *header = image ? find_header(image) : NULL;
	uint32_t count, low = 0, high;
	if (!header || header[0] != VERSION || header[2] != COUNT_UDATA4 || header[3] != TABLE_DATAREL_SDATA4)
		return false;
	memcpy(&count, header + 8, sizeof count);
	for (high = count; low < high;) { /* the first that begins behind it */
		uint32_t middle = low + (high - low) / 2;
		if (function_at(header, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == count)
		return false;
	*range = (struct code_range){ function_at(header, low - 1), function_at(header, low) };
	return true;
}
