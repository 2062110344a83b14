/* What an ELF file is to its loader: see jprof_binary_open. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/textparts.h"
#include "input/asknames.h"
#include "input/learnnames.h"
#include "input/objfile.h"
#include "input/packfiles.h"

struct jprof_binary {
	struct jp_objfile *file;
	struct jprof_binary_info info;
	const char **needed;
	size_t needed_count, needed_cap;
};

/* What is read of a section: no loader takes longer names, and no file has so many symbols. */
enum { most_interpreter = PATH_MAX, most_dynamic = 1 << 16, most_string_bytes = 1 << 28, most_symbol_bytes = 1 << 28 };

/* The text of PT_INTERP; "" if there is none, or none that ends. NULL when memory is short. */
static const char *interpreter_of(struct jp_objfile *file)
{
	char path[most_interpreter];
	for (size_t i = 0; i < file->headers.segment_count; i++) {
		const struct jp_elf_segment *s = &file->headers.segments[i];
		if (s->type == PT_INTERP && s->file_size && s->file_size <= sizeof path &&
		    jp_elf_read_at(file->fd, s->offset, path, s->file_size) && !path[s->file_size - 1])
			return jp_arena_dup(&file->arena, path, strlen(path));
	}
	return "";
}

/* A table and the strings of the section that it is linked to. */
struct string_table {
	struct jp_strbuf entries, strings;
	struct jp_bytes in, names;
};

static void release_string_table(struct string_table *table)
{
	jp_strbuf_release(&table->entries);
	jp_strbuf_release(&table->strings);
}

/* Reads the first table of that type. False where the file has not got it all; when memory is short that is seen in the
 * buffers. */
static bool read_string_table(const struct jp_objfile *file, uint32_t type, size_t most, struct string_table *table)
{
	const struct jp_elf_headers *h = &file->headers;
	const struct jp_elf_section *entries = jp_elf_section_find(h, NULL, type);
	const struct jp_elf_section *strings = jp_elf_section_linked(h, entries);
	return strings && jp_elf_section_read(file->fd, h, entries, most, &table->entries, &table->in) &&
	       jp_elf_section_read(file->fd, h, strings, most_string_bytes, &table->strings, &table->names);
}

/* Whether that string begins there. The table is anybody's: no string is read to its end, wherever that may be. */
static bool is_name_at(const struct string_table *table, uint64_t offset, const char *name)
{
	size_t size = strlen(name) + 1;
	return offset <= table->names.len && size <= table->names.len - offset &&
	       !memcmp(table->names.data + offset, name, size);
}

static int add_needed(struct jprof_binary *b, struct jp_bytes names, uint64_t offset)
{
	jp_bytes_seek(&names, offset);
	const char *name = jp_bytes_cstr(&names);
	if (!name || strlen(name) >= PATH_MAX)
		return 0;
	if (jp_array_push(b->needed, b->needed_count, b->needed_cap))
		return -1;
	b->needed[b->needed_count] = jp_arena_dup(&b->file->arena, name, strlen(name));
	return b->needed[b->needed_count++] ? 0 : -1;
}

static int read_needed(struct jprof_binary *b)
{
	struct string_table jp_cleanup(release_string_table) table = { 0 };
	unsigned word = b->file->headers.bits / 8;
	bool is = read_string_table(b->file, SHT_DYNAMIC, most_dynamic, &table);
	int rc = table.entries.failed || table.strings.failed ? -1 : 0;
	while (is && !rc) {
		uint64_t tag = jp_bytes_uint(&table.in, word), value = jp_bytes_uint(&table.in, word);
		if (tag == DT_NULL || table.in.bad)
			break;
		rc = tag == DT_NEEDED ? add_needed(b, table.names, value) : 0;
	}
	return rc;
}

static const char *libc_of(const struct jprof_binary *b)
{
	const char *loader = jp_basename(b->info.interpreter);
	if (jp_begins(loader, "ld-musl"))
		return "musl";
	if (jp_begins(loader, "ld-linux") || jp_begins(loader, "ld.so.") || jp_begins(loader, "ld64.so."))
		return "glibc";
	for (size_t i = 0; i < b->needed_count; i++) {
		if (jp_begins(b->needed[i], "libc.so."))
			return "glibc";
		if (jp_begins(b->needed[i], "libc.musl-") || !strcmp(b->needed[i], "libc.so"))
			return "musl";
	}
	return "";
}

static int read_binary(struct jprof_binary *b, struct jprof_error *err)
{
	const struct jp_elf_headers *h = &b->file->headers;
	b->info.machine = h->machine;
	b->info.bits = h->bits;
	b->info.big_endian = h->big_endian;
	b->info.interpreter = interpreter_of(b->file);
	if (!b->info.interpreter || read_needed(b))
		return jp_error_nomem(err);
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

/* An entry begins with where its name is; by st_shndx it is defined. */
static bool a_table_defines(const struct jprof_binary *binary, uint32_t type, const char *name)
{
	struct string_table jp_cleanup(release_string_table) table = { 0 };
	if (!binary || !name || !read_string_table(binary->file, type, most_symbol_bytes, &table))
		return false;
	bool wide = binary->info.bits == 64;
	size_t entry = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t home = wide ? offsetof(Elf64_Sym, st_shndx) : offsetof(Elf32_Sym, st_shndx);
	for (size_t at = 0; at + entry <= table.in.len; at += entry) {
		jp_bytes_seek(&table.in, at);
		uint64_t own = jp_bytes_uint(&table.in, 4);
		jp_bytes_seek(&table.in, at + home);
		if (jp_bytes_uint(&table.in, 2) != SHN_UNDEF && is_name_at(&table, own, name))
			return true;
	}
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

int jprof_binary_packed(struct jprof_binary *binary, const char *names, const char *names_dirs,
                        const struct jprof_name_finder *finder, size_t *named, size_t *functions,
                        struct jprof_error *err)
{
	if (jp_null(err, binary, named, functions))
		return JPROF_E_ARGUMENT;
	struct jp_packfiles jp_cleanup(jp_packfiles_release) packs = { 0 };
	*named = *functions = 0;
	int rc = jp_packfiles_add(&packs, names, err);
	if (!rc && jp_packfiles_scan(&packs, names_dirs))
		rc = jp_error_nomem(err);
	return rc || jp_objfile_has_symtab(binary->file)
	           ? rc
	           : jp_names_packed(binary->file, &packs, finder, named, functions, err);
}

void jprof_binary_free(struct jprof_binary *binary)
{
	if (!binary)
		return;
	jp_objfile_close(binary->file);
	free(binary->needed);
	free(binary);
}
