#include "input/filewants.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"

enum { most_id_bytes = 64, crc_bytes = 4 };

/* A name, and at the next multiple of 4 a CRC. */
static void read_debuglink(struct jp_bytes bytes, struct jp_file_wants *wants)
{
	const char *name = jp_bytes_cstr(&bytes);
	jp_bytes_seek(&bytes, (bytes.pos + crc_bytes - 1) / crc_bytes * crc_bytes);
	wants->crc = (uint32_t)jp_bytes_uint(&bytes, crc_bytes);
	wants->link = bytes.bad ? NULL : name;
}

/* A path, and what follows it is the build-id. */
static void read_shared(struct jp_bytes bytes, struct jp_file_wants *wants)
{
	const char *path = jp_bytes_cstr(&bytes);
	size_t len = path ? bytes.len - bytes.pos : 0;
	if (!len)
		return;
	wants->shared = path;
	for (size_t i = 0; i < len && i < most_id_bytes; i++)
		snprintf(wants->shared_id + 2 * i, 3, "%02x", bytes.data[bytes.pos + i]);
}

static void read_wanting(const struct jp_objfile *file, Elf_Scn *scn, const char *section, struct jp_file_wants *wants)
{
	bool link = !strcmp(section, ".gnu_debuglink"), shared = !strcmp(section, ".gnu_debugaltlink");
	const Elf_Data *data = link || shared ? elf_rawdata(scn, NULL) : NULL;
	const char *ident = elf_getident(file->elf, NULL);
	if (!data || !data->d_buf || !ident)
		return;
	struct jp_bytes bytes = { .data = data->d_buf,
		                  .len = data->d_size,
		                  .big_endian = ident[EI_DATA] == ELFDATA2MSB };
	if (link)
		read_debuglink(bytes, wants);
	else
		read_shared(bytes, wants);
}

void jp_file_wants(const struct jp_objfile *file, struct jp_file_wants *wants)
{
	size_t names;
	Elf_Scn *scn = NULL;
	*wants = (struct jp_file_wants){ 0 };
	if (elf_getshdrstrndx(file->elf, &names))
		return;
	while ((scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
		    gelf_getshdr(scn, &shdr) && !(shdr.sh_flags & SHF_ALLOC) && shdr.sh_type != SHT_NOBITS
			? elf_strptr(file->elf, names, shdr.sh_name)
			: NULL;
		if (!name)
			continue;
		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			wants->dwarf = wants->dwarf || shdr.sh_size;
		else
			read_wanting(file, scn, name, wants);
	}
}
