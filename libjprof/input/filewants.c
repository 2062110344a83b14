#include "input/filewants.h"

#include <stdio.h>
#include <string.h>

enum { most_link_id = 64, crc_bytes = 4, most_section = PATH_MAX + most_link_id };

/* A name, and at the next multiple of 4 a CRC. */
static void read_debuglink(struct jp_bytes bytes, struct jp_file_wants *wants)
{
	const char *name = jp_bytes_cstr(&bytes);
	jp_bytes_seek(&bytes, (bytes.pos + crc_bytes - 1) / crc_bytes * crc_bytes);
	wants->crc = (uint32_t)jp_bytes_uint(&bytes, crc_bytes);
	if (!bytes.bad && strlen(name) < sizeof wants->link)
		strcpy(wants->link, name);
}

/* A path, and what follows it is the build-id. */
static void read_shared(struct jp_bytes bytes, struct jp_file_wants *wants)
{
	const char *path = jp_bytes_cstr(&bytes);
	size_t len = path ? bytes.len - bytes.pos : 0;
	wants->shares = bytes.len;
	if (!len || strlen(path) >= sizeof wants->shared)
		return;
	strcpy(wants->shared, path);
	for (size_t i = 0; i < len && i < most_link_id; i++)
		snprintf(wants->shared_id + 2 * i, 3, "%02x", bytes.data[bytes.pos + i]);
}

int jp_file_wants(const struct jp_objfile *file, struct jp_file_wants *wants)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const struct jp_elf_headers *h = &file->headers;
	struct jp_bytes bytes;
	*wants = (struct jp_file_wants){ 0 };
	for (size_t i = 0; i < h->section_count; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		if (s->flags & SHF_ALLOC || s->type == SHT_NOBITS)
			continue;
		if (!strcmp(s->name, ".debug_info") || !strcmp(s->name, ".zdebug_info"))
			wants->dwarf = wants->dwarf || s->size;
		bool link = !strcmp(s->name, ".gnu_debuglink");
		if ((!link && strcmp(s->name, ".gnu_debugaltlink")) ||
		    !jp_elf_section_read(file->fd, h, s, most_section, &text, &bytes))
			continue;
		if (link)
			read_debuglink(bytes, wants);
		else
			read_shared(bytes, wants);
	}
	return text.failed ? -1 : 0;
}
