#include "input/objfile.h"

#include <errno.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

enum { note_name_max = 4, page = 4096 };

/* ---- opening ------------------------------------------------------------------------------------ */

static int read_segments(struct jp_objfile *file)
{
	size_t count;
	GElf_Ehdr ehdr;
	if (elf_getphdrnum(file->elf, &count) || !gelf_getehdr(file->elf, &ehdr))
		return JPROF_E_FORMAT;
	file->segments = jp_arena_alloc(&file->arena, (count + 1) * sizeof *file->segments);
	if (!file->segments)
		return JPROF_E_NOMEM;
	file->program = ehdr.e_type == ET_EXEC;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;
		if (!gelf_getphdr(file->elf, (int)i, &ph))
			continue;
		if (ph.p_type == PT_INTERP)
			file->program = true;
		if (ph.p_type == PT_LOAD)
			file->segments[file->segment_count++] =
			    (struct jp_segment){ ph.p_offset, ph.p_vaddr, ph.p_filesz, ph.p_memsz, ph.p_flags & PF_X };
	}
	return 0;
}

/* A segment may hold headers and data beside its code: sections tell them apart. */
static int read_code_sections(struct jp_objfile *file)
{
	size_t count;
	Elf_Scn *scn = NULL;
	if (elf_getshdrnum(file->elf, &count))
		return 0;
	file->code = jp_arena_alloc(&file->arena, (count + 1) * sizeof *file->code);
	while (file->code && file->code_count < count && (scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr s;
		if (gelf_getshdr(scn, &s) && s.sh_flags & SHF_EXECINSTR && s.sh_size <= UINT64_MAX - s.sh_addr)
			file->code[file->code_count++] = (struct jp_range){ s.sh_addr, s.sh_addr + s.sh_size };
	}
	return file->code ? 0 : JPROF_E_NOMEM;
}

/* The note NT_GNU_BUILD_ID, wherever it stands. */
static void read_build_id(struct jp_objfile *file)
{
	Elf_Scn *scn = NULL;
	while (!*file->build_id && (scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data = NULL;
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_NOTE)
			data = elf_getdata(scn, NULL);
		GElf_Nhdr note;
		size_t at = 0, name, desc;
		while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
			const unsigned char *bytes = data->d_buf;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != note_name_max ||
			    memcmp(bytes + name, "GNU", note_name_max) ||
			    note.n_descsz > (sizeof file->build_id - 1) / 2)
				continue;
			for (size_t i = 0; i < note.n_descsz; i++)
				snprintf(file->build_id + 2 * i, 3, "%02x", bytes[desc + i]);
			break;
		}
	}
}

static int load_headers(struct jp_objfile *file, struct jprof_error *err)
{
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return jp_error(err, JPROF_E_FORMAT, file->path, 0, "is no ELF file");
	int rc = read_segments(file);
	if (!rc)
		rc = read_code_sections(file);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	return rc ? jp_error(err, JPROF_E_FORMAT, file->path, 0, "has a damaged ELF header") : 0;
}

int jp_objfile_borrow(int fd, const char *path, struct jp_objfile **out, struct jprof_error *err)
{
	elf_version(EV_CURRENT);
	struct jp_objfile *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	file->path = strdup(path);
	file->fd = fd;
	file->borrowed = true;
	int rc = file->path ? load_headers(file, err) : jp_error_nomem(err);
	if (rc)
		jp_objfile_close(file);
	else
		*out = file;
	return rc;
}

int jp_objfile_open(struct jp_root root, const char *path, struct jp_objfile **out, struct jprof_error *err)
{
	elf_version(EV_CURRENT);
	struct jp_objfile *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	file->path = strdup(path);
	file->root = (struct jp_root){ .path = root.path ? strdup(root.path) : NULL, .opener = root.opener };
	file->fd = jp_file_open_untrusted(root, path, &file->st);
	int rc;
	if (!file->path || (root.path && !file->root.path))
		rc = jp_error_nomem(err);
	else if (file->fd < 0)
		rc = jp_error(err, JPROF_E_IO, path, 0, "%s",
		              errno == EINVAL      ? "is not a regular file"
		              : errno == ETIMEDOUT ? "lies on a file system that does not answer"
		                                   : strerror(errno));
	else
		rc = load_headers(file, err);
	if (rc) {
		jp_objfile_close(file);
		return rc;
	}
	read_build_id(file);
	*out = file;
	return 0;
}

void jp_objfile_close(struct jp_objfile *file)
{
	if (!file)
		return;
	if (file->names)
		file->free_names(file->names);
	jp_strbuf_release(&file->remarks);
	elf_end(file->elf);
	if (!file->borrowed)
		jp_file_close(&file->fd);
	jp_arena_release(&file->arena);
	free(file->path);
	free((void *)file->root.path);
	free(file);
}

/* ---- addresses -------------------------------------------------------------------------------------- */

bool jp_objfile_vaddr(const struct jp_objfile *file, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct jp_segment *s = &file->segments[i];
		if (s->executable && offset >= s->offset && offset - s->offset < s->file_size) {
			*vaddr = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

bool jp_objfile_is_code(const struct jp_objfile *file, uint64_t vaddr)
{
	for (size_t i = 0; i < file->code_count; i++)
		if (vaddr >= file->code[i].start && vaddr < file->code[i].end)
			return true;
	if (file->code_count)
		return false;
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct jp_segment *s = &file->segments[i];
		if (s->executable && vaddr >= s->vaddr && vaddr - s->vaddr < s->mem_size)
			return true;
	}
	return false;
}

/* A mapping's unit: pages may be larger than 4096, then starts and lengths are multiples of more. */
static uint64_t mapping_unit(uint64_t start, uint64_t offset, uint64_t len)
{
	uint64_t size = 65536, all = start | offset | len;
	while (size > page && all & (size - 1))
		size /= 2;
	return size;
}

bool jp_objfile_fits(const struct jp_objfile *file, uint64_t start, uint64_t offset, uint64_t len)
{
	uint64_t size = mapping_unit(start, offset, len);
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct jp_segment *s = &file->segments[i];
		if (!s->executable || s->offset > UINT64_MAX - s->file_size - size)
			continue;
		for (uint64_t unit = page; unit <= size; unit *= 2) {
			uint64_t first = s->offset / unit * unit;
			uint64_t end = (s->offset + s->file_size + unit - 1) / unit * unit;
			if (offset == first && end == offset + len)
				return true;
		}
	}
	return false;
}

bool jp_objfile_holds(const struct jp_objfile *file, uint64_t offset, uint64_t len, struct jp_range *whole)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct jp_segment *s = &file->segments[i];
		if (!s->executable || s->offset > UINT64_MAX - s->file_size - page)
			continue;
		whole->start = s->offset / page * page;
		whole->end = (s->offset + s->file_size + page - 1) / page * page;
		if (offset >= whole->start && offset < whole->end && len <= whole->end - offset)
			return true;
	}
	return false;
}

/* ---- what others ask -------------------------------------------------------------------------------- */

void jp_objfile_remark(struct jp_objfile *file, const char *fmt, ...)
{
	char text[640];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (file->remarks.len)
		jp_strbuf_str(&file->remarks, "; ");
	jp_strbuf_visible(&file->remarks, text);
}

Elf_Data *jp_objfile_section(const struct jp_objfile *file, const char *wanted)
{
	size_t names;
	Elf_Scn *scn = NULL;
	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(file->elf, names, shdr.sh_name) : NULL;
		if (name && !strcmp(name, wanted) && shdr.sh_type != SHT_NOBITS)
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

bool jp_objfile_has_symtab(const struct jp_objfile *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	return false;
}
