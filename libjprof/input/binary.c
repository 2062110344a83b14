/* What an ELF file is to its loader: see jprof_binary_open. */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/asknames.h"
#include "input/objfile.h"

struct jprof_binary {
	struct jp_objfile *file;
	struct jprof_binary_info info;
	const char **needed;
	size_t needed_count, needed_cap;
};

/* The text of PT_INTERP; "" if there is none, or none that ends. */
static const char *interpreter_of(struct jp_objfile *file)
{
	size_t count;
	GElf_Phdr ph;
	if (elf_getphdrnum(file->elf, &count))
		return "";
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &ph) || ph.p_type != PT_INTERP)
			continue;
		Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE);
		if (data && data->d_buf && data->d_size && !((const char *)data->d_buf)[data->d_size - 1])
			return data->d_buf;
	}
	return "";
}

static int add_needed(struct jprof_binary *b, Elf_Data *data, size_t strings)
{
	GElf_Dyn dyn;
	for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		const char *name = dyn.d_tag == DT_NEEDED ? elf_strptr(b->file->elf, strings, dyn.d_un.d_val) : NULL;
		if (!name)
			continue;
		if (jp_array_push(b->needed, b->needed_count, b->needed_cap))
			return -1;
		b->needed[b->needed_count++] = name;
	}
	return 0;
}

static int read_needed(struct jprof_binary *b)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	while ((scn = elf_nextscn(b->file->elf, scn))) {
		Elf_Data *data = NULL;
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_DYNAMIC)
			data = elf_getdata(scn, NULL);
		if (data && add_needed(b, data, shdr.sh_link))
			return -1;
	}
	return 0;
}

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *libc_of(const struct jprof_binary *b)
{
	const char *slash = strrchr(b->info.interpreter, '/'), *loader = slash ? slash + 1 : b->info.interpreter;
	if (begins_with(loader, "ld-musl"))
		return "musl";
	if (begins_with(loader, "ld-linux") || begins_with(loader, "ld.so.") || begins_with(loader, "ld64.so."))
		return "glibc";
	for (size_t i = 0; i < b->needed_count; i++) {
		if (begins_with(b->needed[i], "libc.so."))
			return "glibc";
		if (begins_with(b->needed[i], "libc.musl-") || !strcmp(b->needed[i], "libc.so"))
			return "musl";
	}
	return "";
}

static int read_binary(struct jprof_binary *b, struct jprof_error *err)
{
	GElf_Ehdr ehdr;
	if (!gelf_getehdr(b->file->elf, &ehdr))
		return jp_error(err, JPROF_E_FORMAT, b->file->path, 0, "has a damaged ELF header");
	if (read_needed(b))
		return jp_error_nomem(err);
	b->info.machine = ehdr.e_machine;
	b->info.bits = ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	b->info.big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	b->info.interpreter = interpreter_of(b->file);
	b->info.libc = libc_of(b);
	b->info.build_id = b->file->build_id;
	return 0;
}

int jprof_binary_open_by(const struct jprof_opener *opener, const char *root, const char *path,
                         struct jprof_binary **out, struct jprof_error *err)
{
	if (jp_null(err, path, out) || (opener && !opener->open && jp_null(err, NULL)))
		return JPROF_E_ARGUMENT;
	struct jprof_binary *b = calloc(1, sizeof *b);
	if (!b)
		return jp_error_nomem(err);
	int rc = jp_objfile_open((struct jp_root){ .path = root, .opener = opener }, path, &b->file, err);
	if (!rc)
		rc = read_binary(b, err);
	if (rc)
		jprof_binary_free(b);
	else
		*out = b;
	return rc;
}

int jprof_binary_open(const char *root, const char *path, struct jprof_binary **out, struct jprof_error *err)
{
	return jprof_binary_open_by(NULL, root, path, out, err);
}

const struct jprof_binary_info *jprof_binary_info(const struct jprof_binary *binary)
{
	return binary ? &binary->info : NULL;
}

size_t jprof_binary_needed_count(const struct jprof_binary *binary)
{
	return binary ? binary->needed_count : 0;
}

const char *jprof_binary_needed(const struct jprof_binary *binary, size_t i)
{
	return binary && i < binary->needed_count ? binary->needed[i] : NULL;
}

/* Whether the symbol table in `scn` defines `name`. */
static bool table_defines(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const char *name)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *own = sym.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (own && !strcmp(own, name))
			return true;
	}
	return false;
}

static bool a_table_defines(const struct jprof_binary *binary, GElf_Word type, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	while (binary && name && (scn = elf_nextscn(binary->file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type &&
		    table_defines(binary->file->elf, scn, &shdr, name))
			return true;
	return false;
}

bool jprof_binary_defines(const struct jprof_binary *binary, const char *name)
{
	return a_table_defines(binary, SHT_DYNSYM, name) || a_table_defines(binary, SHT_SYMTAB, name);
}

bool jprof_binary_exports(const struct jprof_binary *binary, const char *name)
{
	return a_table_defines(binary, SHT_DYNSYM, name);
}

enum jprof_source jprof_binary_source(struct jprof_binary *binary)
{
	if (!binary)
		return JPROF_SOURCE_NONE;
	struct jp_objfile *file = binary->file;
	const struct jp_debug_where where = { .root = file->root };
	struct jp_asking jp_cleanup(jp_asking_release) asking = { .file = file, .where = &where };
	if (jp_asking_next(&asking) < 0)
		return JPROF_SOURCE_NONE;
	if (asking.found.dwarf != JP_DWARF_NOWHERE)
		return JPROF_SOURCE_DWARF;
	if (jp_objfile_has_symtab(file) || (asking.found.debug && jp_objfile_has_symtab(asking.found.debug)))
		return JPROF_SOURCE_SYMTAB;
	return JPROF_SOURCE_DYNSYM;
}

void jprof_binary_free(struct jprof_binary *binary)
{
	if (!binary)
		return;
	jp_objfile_close(binary->file);
	free(binary->needed);
	free(binary);
}
