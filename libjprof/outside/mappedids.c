#include "outside/mappedids.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonout.h"
#include "input/elfheaders.h"

bool jp_build_id_in_memory(struct jp_memsource *m, const struct jprof_map *map, char id[jp_memory_id])
{
	enum { most_headers = 64 };
	Elf64_Ehdr header;
	unsigned char notes[1024];
	if (map->offset || !jp_memsource_read(m, map->start, &header, sizeof header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < header.e_phnum && i < most_headers; i++) {
		Elf64_Phdr segment;
		uint64_t at = header.e_phoff + i * sizeof segment;
		if (at > jp_memory_page || !jp_memsource_read(m, map->start + at, &segment, sizeof segment))
			return false;
		if (segment.p_type != PT_NOTE || segment.p_offset > jp_memory_page - sizeof notes)
			continue;
		size_t size = segment.p_filesz < sizeof notes ? (size_t)segment.p_filesz : sizeof notes;
		jp_memsource_copy(m, map->start + segment.p_offset, notes, size);
		if (jp_elf_id_among_notes((struct jp_bytes){ .data = notes, .len = size }, segment.p_align, id))
			return true;
	}
	return false;
}

int jp_mapped_ids_write(struct jp_memsource *m, struct jp_strbuf *text)
{
	struct jp_jsonout j = { .out = text };
	char id[jp_memory_id], base[32];
	jp_jsonout_open(&j, NULL, '{', false);
	jp_jsonout_open(&j, "objects", '[', false);
	for (size_t i = 0; i < jprof_maps_count(m->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(m->maps, i);
		if (*map->path != '/' || !jp_build_id_in_memory(m, map, id))
			continue;
		snprintf(base, sizeof base, "0x%llx", (unsigned long long)map->start);
		jp_jsonout_put(&j, "{path:%s base:%s build_id:%s}", map->path, base, id);
	}
	jp_jsonout_close(&j);
	jp_jsonout_close(&j);
	return text->failed ? -1 : 0;
}
