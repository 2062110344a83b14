#include "input/elffile.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "input/debugimage.h"

int jp_elffile_borrow(int fd, const char *path, struct jp_elffile *out)
{
	struct jp_elffile file = { 0 };
	elf_version(EV_CURRENT);
	int rc = jp_objfile_borrow(fd, path, &file.object, NULL);
	if (rc)
		return rc;
	file.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!file.elf || elf_kind(file.elf) != ELF_K_ELF) {
		jp_elffile_close(&file);
		return JPROF_E_FORMAT;
	}
	*out = file;
	return 0;
}

void jp_elffile_close(struct jp_elffile *file)
{
	elf_end(file->debug);
	free(file->image);
	elf_end(file->elf);
	jp_objfile_close(file->object);
	*file = (struct jp_elffile){ 0 };
}

void jp_elffile_unpack(struct jp_elffile *file)
{
	size_t size = 0;
	if (file->image || !file->object)
		return;
	file->image = jp_debugimage_new(file->object, &size);
	file->debug = file->image ? elf_memory(file->image, size) : NULL;
}

Elf *jp_elffile_debug(const struct jp_elffile *file)
{
	return file->debug ? file->debug : file->elf;
}

Elf_Data *jp_elffile_section(const struct jp_elffile *file, const char *wanted)
{
	size_t names;
	Elf_Scn *scn = NULL;
	Elf *elf = strncmp(wanted, ".debug_", 7) ? file->elf : jp_elffile_debug(file);
	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (name && !strcmp(name, wanted) && shdr.sh_type != SHT_NOBITS)
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

bool jp_elffile_shares(const struct jp_elffile *file)
{
	return jp_elffile_section(file, ".gnu_debugaltlink");
}
