#include "input/codefile.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "machine/references.h"

enum { most_string = 256, most_names_read = 64 << 20, most_dynamic_read = 1 << 16, longest_symbol = 1 << 13 };

/* A copy of the section's bytes in the arena; without any where the file has not got them all. -1 when memory is short.
 */
static int section_copy(const struct jp_objfile *object, const struct jp_elf_section *section, size_t most,
                        struct jp_arena *arena, struct jp_bytes *bytes)
{
	*bytes = (struct jp_bytes){ .big_endian = object->headers.big_endian };
	if (!section || section->type == SHT_NOBITS || !section->size || section->size > most)
		return 0;
	unsigned char *copy = jp_arena_alloc(arena, (size_t)section->size + 1);
	if (!copy)
		return -1;
	bytes->data = copy;
	if (jp_elf_read_at(object->fd, section->offset, copy, (size_t)section->size))
		bytes->len = (size_t)section->size;
	return 0;
}

size_t jp_codefile_function(const struct jp_codefile *f, uint64_t vaddr)
{
	const struct jp_function_bounds *at = jp_image_function(&f->code.image, vaddr);
	return at ? (size_t)(at - f->functions) : SIZE_MAX;
}

/* ---- symbols ------------------------------------------------------------------------------------ */

/* Symbols and their strings, as they stand in the file. Tables of 64 bits alone. */
struct symbol_bytes {
	struct jp_bytes entries, strings;
};

static int read_symbol_bytes(const struct jp_objfile *object, const struct jp_elf_section *table,
                             struct jp_arena *arena, struct symbol_bytes *out)
{
	const struct jp_elf_section *strings = jp_elf_section_linked(&object->headers, table);
	if (object->headers.bits != 64)
		table = strings = NULL;
	return section_copy(object, table, most_names_read, arena, &out->entries) ||
	               section_copy(object, strings, most_names_read, arena, &out->strings)
	           ? -1
	           : 0;
}

struct symbol_entry {
	const char *name;
	unsigned info, section;
	uint64_t value, size;
};

static bool symbol_entry(const struct symbol_bytes *table, uint64_t i, struct symbol_entry *entry)
{
	struct jp_bytes b = table->entries, strings = table->strings;
	if (i >= b.len / sizeof(Elf64_Sym))
		return false;
	jp_bytes_seek(&b, i * sizeof(Elf64_Sym));
	jp_bytes_seek(&strings, jp_bytes_uint(&b, 4));
	if (strings.len - strings.pos > longest_symbol)
		strings.len = strings.pos + longest_symbol;
	entry->info = (unsigned)jp_bytes_uint(&b, 1);
	jp_bytes_uint(&b, 1);
	entry->section = (unsigned)jp_bytes_uint(&b, 2);
	entry->value = jp_bytes_uint(&b, 8);
	entry->size = jp_bytes_uint(&b, 8);
	entry->name = strings.bad ? NULL : jp_bytes_cstr(&strings);
	return !b.bad && entry->name && *entry->name;
}

/* As symtab.c ranks them: exported before weak before local, plain before underscored names. An empty symbol, like that
 * of a cold part of which nothing is left, comes after what begins there. */
static unsigned codesymbol_rank(const struct symbol_entry *e)
{
	unsigned bind = ELF64_ST_BIND(e->info), rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
	return (e->size ? 0 : 16) + rank * 4 + (unsigned)(*e->name == '_') + (unsigned)!strncmp(e->name, "__", 2);
}

static int by_codesymbol(const void *a, const void *b)
{
	const struct jp_codesymbol *x = a, *y = b;
	return jp_order_by(x->value, y->value, jp_order_by(x->rank, y->rank, strcmp(x->name, y->name)));
}

int jp_codesymbols_read(const struct jp_objfile *object, uint32_t type, struct jp_arena *arena,
                        struct jp_codesymbol **symbols, size_t *count)
{
	struct symbol_bytes table;
	struct symbol_entry e;
	*count = 0;
	if (read_symbol_bytes(object, jp_elf_section_find(&object->headers, NULL, type), arena, &table))
		return -1;
	size_t all = table.entries.len / sizeof(Elf64_Sym);
	*symbols = jp_arena_alloc(arena, (all + 1) * sizeof **symbols);
	for (size_t i = 1; *symbols && i < all; i++) {
		if (!symbol_entry(&table, i, &e) || e.section == SHN_UNDEF || e.section >= SHN_LORESERVE ||
		    (ELF64_ST_TYPE(e.info) != STT_FUNC && ELF64_ST_TYPE(e.info) != STT_GNU_IFUNC))
			continue;
		(*symbols)[(*count)++] = (struct jp_codesymbol){ e.value, e.name, codesymbol_rank(&e),
			                                         ELF64_ST_BIND(e.info) == STB_LOCAL, !e.size };
	}
	if (*count)
		qsort(*symbols, *count, sizeof **symbols, by_codesymbol);
	return *symbols ? 0 : -1;
}

/* ---- meanings ----------------------------------------------------------------------------------- */

/* Printable ASCII up to its NUL. */
static struct jp_span constant_text(const struct jp_image *image, uint64_t vaddr)
{
	size_t room, len = 0;
	const char *text = (const char *)jp_image_bytes(image, vaddr, &room);
	while (len < room && len < most_string &&
	       ((text[len] >= ' ' && text[len] < 0x7f) || text[len] == '\n' || text[len] == '\t'))
		len++;
	return (struct jp_span){ text, len < room && (len == most_string || !text[len]) ? len : 0 };
}

struct jp_span jp_codefile_meaning(const struct jp_codefile *f, uint64_t vaddr)
{
	const struct jp_image *image = &f->code.image;
	const struct jp_piece *piece = jp_image_piece(image, vaddr);
	const char *name = NULL;
	if (piece && !piece->code && !piece->written)
		return constant_text(image, vaddr);
	if (!piece || piece->written || piece->stubs)
		name = jp_image_slot_name(image, piece && piece->stubs ? jp_stub_slot(image, vaddr) : vaddr);
	return (struct jp_span){ name, name ? strlen(name) : 0 };
}

/* ---- the file ----------------------------------------------------------------------------------- */

/* Where a file has no DT_SONAME, as extensions and programs: its name. */
static const char *name_of_file(const struct jp_objfile *object, struct jp_arena *arena)
{
	const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;
	return jp_arena_dup(arena, name, strlen(name));
}

const char *jp_codefile_soname(const struct jp_objfile *object, struct jp_arena *arena)
{
	const struct jp_elf_section *dynamic = jp_elf_section_find(&object->headers, NULL, SHT_DYNAMIC);
	const struct jp_elf_section *strings = jp_elf_section_linked(&object->headers, dynamic);
	struct jp_bytes in, names;
	if (!strings || object->headers.bits != 64)
		return name_of_file(object, arena);
	if (section_copy(object, dynamic, most_dynamic_read, arena, &in) ||
	    section_copy(object, strings, most_names_read, arena, &names))
		return NULL;
	while (in.len - in.pos >= sizeof(Elf64_Dyn)) {
		uint64_t tag = jp_bytes_uint(&in, 8), value = jp_bytes_uint(&in, 8);
		if (tag != DT_SONAME)
			continue;
		jp_bytes_seek(&names, value);
		const char *name = jp_bytes_cstr(&names);
		return name ? name : "";
	}
	return name_of_file(object, arena);
}

int jp_codefile_read(const struct jp_objfile *object, struct jp_codefile *f)
{
	*f = (struct jp_codefile){ .object = object };
	int rc = jp_codeimage_read(object, &f->code);
	f->functions = f->code.image.functions;
	f->function_count = f->code.image.function_count;
	return rc;
}

void jp_codefile_release(struct jp_codefile *f)
{
	jp_codeimage_release(&f->code);
	jp_arena_release(&f->arena);
}
