#include "input/debugimage.h"

#include <stdlib.h>
#include <string.h>

#include "input/inflate.h"

/* The sections that are read: all that jp_dwarf_lookup and splitranges.c ask libdw for. */
static const char *const sections_in_image[] = {
	".debug_info", ".debug_types",  ".debug_abbrev",   ".debug_str", ".debug_line",        ".debug_line_str",
	".debug_addr", ".debug_ranges", ".debug_rnglists", ".debug_sup", ".debug_str_offsets", ".gnu_debugaltlink",
};

enum { most_parts = jp_count(sections_in_image), part_alignment = 16, zlib_type = 1, largest_ratio = 1040 };

/* In bytes. What claims to be larger is left to libdw. */
static const uint64_t largest_image = (uint64_t)4 << 30;

/* A section of the image, and where it is from. */
struct image_part {
	const struct jp_elf_section *section;
	uint64_t packed; /* bytes in the file in front of what is packed; 0: it is copied */
	uint64_t size, at;
};

struct image_plan {
	const struct jp_objfile *file;
	struct image_part parts[most_parts];
	size_t count;
	uint64_t names_at, headers_at, size; /* names of sections, their headers, all */
};

static bool is_our_kind(const struct jp_elf_headers *h)
{
	const union {
		uint16_t word;
		unsigned char first;
	} order = { 1 };
	return h->bits == 64 && !h->big_endian && order.first;
}

static bool is_packed_debug(const struct jp_elf_section *s)
{
	return !strncmp(s->name, ".debug_", 7) && s->type != SHT_NOBITS && s->flags & SHF_COMPRESSED;
}

/* Whether libdw would unpack something that we can. */
static bool wants_image(const struct jp_elf_headers *h)
{
	bool packed = false;
	for (size_t i = 0; i < h->section_count; i++) {
		if (!strncmp(h->sections[i].name, ".zdebug_", 8))
			return false;
		packed = packed || is_packed_debug(&h->sections[i]);
	}
	return packed && is_our_kind(h);
}

/* A header that says what cannot be is left to libdw. */
static void plan_part(struct image_plan *plan, const struct jp_elf_section *s)
{
	struct image_part *part = &plan->parts[plan->count++];
	Elf64_Chdr packed;
	*part = (struct image_part){ .section = s, .size = s->size };
	if (!(s->flags & SHF_COMPRESSED) || s->size < sizeof packed ||
	    !jp_elf_read_at(plan->file->fd, s->offset, &packed, sizeof packed) || packed.ch_type != zlib_type ||
	    packed.ch_size > (s->size - sizeof packed) * largest_ratio)
		return;
	part->packed = sizeof packed;
	part->size = packed.ch_size;
}

/* Whether it lies in the file: then the image is not larger than so many times the file. */
static bool lies_in(const struct jp_elf_section *s, uint64_t file_size)
{
	return s->offset <= file_size && s->size <= file_size - s->offset;
}

static bool plan_image(struct image_plan *plan)
{
	const struct jp_elf_headers *h = &plan->file->headers;
	uint64_t at = sizeof(Elf64_Ehdr);
	struct stat st;
	if (fstat(plan->file->fd, &st) || st.st_size > INT32_MAX * INT64_C(16))
		return false;
	for (size_t n = 0; n < most_parts; n++) {
		const struct jp_elf_section *s = jp_elf_section_find(h, sections_in_image[n], SHT_NULL);
		if (s && !lies_in(s, (uint64_t)st.st_size))
			return false;
		if (s)
			plan_part(plan, s);
	}
	for (size_t i = 0; i < plan->count; i++) {
		plan->parts[i].at = at;
		at += (plan->parts[i].size + part_alignment - 1) / part_alignment * part_alignment;
	}
	plan->names_at = at;
	at += 1 + sizeof ".shstrtab";
	for (size_t i = 0; i < plan->count; i++)
		at += strlen(plan->parts[i].section->name) + 1;
	plan->headers_at = (at + part_alignment - 1) / part_alignment * part_alignment;
	plan->size = plan->headers_at + (plan->count + 2) * sizeof(Elf64_Shdr);
	return plan->size <= largest_image && plan->size < SIZE_MAX / 2;
}

/* ---- filling it ----------------------------------------------------------------------------------- */

static bool unpack_part(const struct image_plan *plan, const struct image_part *part, unsigned char *image)
{
	uint64_t len = part->section->size - part->packed;
	void *packed = malloc(len ? (size_t)len : 1);
	bool unpacked = packed &&
	                jp_elf_read_at(plan->file->fd, part->section->offset + part->packed, packed, (size_t)len) &&
	                jp_inflate(packed, (size_t)len, image + part->at, (size_t)part->size) > 0;
	free(packed);
	return unpacked;
}

static bool copy_part(const struct image_plan *plan, const struct image_part *part, unsigned char *image)
{
	return jp_elf_read_at(plan->file->fd, part->section->offset, image + part->at, (size_t)part->size);
}

static bool fill_parts(const struct image_plan *plan, unsigned char *image)
{
	bool filled = true;
	for (size_t i = 0; filled && i < plan->count; i++) {
		const struct image_part *part = &plan->parts[i];
		filled = part->packed ? unpack_part(plan, part, image) : copy_part(plan, part, image);
	}
	return filled;
}

static size_t put_section_name(unsigned char *names, size_t at, const char *name)
{
	memcpy(names + at, name, strlen(name) + 1);
	return at + strlen(name) + 1;
}

static void put_headers(const struct image_plan *plan, unsigned char *image)
{
	unsigned char *names = image + plan->names_at;
	Elf64_Shdr *to = (Elf64_Shdr *)(void *)(image + plan->headers_at);
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		            .e_type = (Elf64_Half)plan->file->headers.type,
		            .e_machine = (Elf64_Half)plan->file->headers.machine,
		            .e_version = EV_CURRENT,
		            .e_ehsize = sizeof head,
		            .e_shentsize = sizeof *to,
		            .e_shnum = (Elf64_Half)(plan->count + 2),
		            .e_shstrndx = (Elf64_Half)(plan->count + 1) };
	head.e_shoff = plan->headers_at;
	memcpy(image, &head, sizeof head);
	names[0] = '\0';
	size_t at = 1;
	to[0] = (Elf64_Shdr){ 0 };
	for (size_t i = 0; i < plan->count; i++) {
		const struct image_part *part = &plan->parts[i];
		to[i + 1] = (Elf64_Shdr){ .sh_name = (Elf64_Word)at,
			                  .sh_type = SHT_PROGBITS,
			                  .sh_flags = part->packed ? 0 : part->section->flags & SHF_COMPRESSED,
			                  .sh_offset = part->at,
			                  .sh_size = part->size,
			                  .sh_addralign = 1 };
		at = put_section_name(names, at, part->section->name);
	}
	to[plan->count + 1] = (Elf64_Shdr){ .sh_name = (Elf64_Word)at,
		                            .sh_type = SHT_STRTAB,
		                            .sh_offset = plan->names_at,
		                            .sh_size = at + sizeof ".shstrtab",
		                            .sh_addralign = 1 };
	put_section_name(names, at, ".shstrtab");
}

void *jp_debugimage_new(const struct jp_objfile *file, size_t *size)
{
	struct image_plan plan = { .file = file };
	if (!wants_image(&file->headers) || !plan_image(&plan))
		return NULL;
	unsigned char *image = malloc((size_t)plan.size);
	if (!image || !fill_parts(&plan, image)) {
		free(image);
		return NULL;
	}
	put_headers(&plan, image);
	*size = (size_t)plan.size;
	return image;
}
