#include "input/codefile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "input/ehframe.h"

enum {
	most_image = 512 << 20,
	most_string = 256,
	most_names_read = 64 << 20,
	most_dynamic_read = 1 << 16,
	most_tables = 256 << 20,
	longest_symbol = 1 << 13
};

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

/* ---- sections ----------------------------------------------------------------------------------- */

static int by_section_start(const void *a, const void *b)
{
	const struct jp_codesection *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

static int read_code_sections(struct jp_codefile *f)
{
	const struct jp_elf_headers *h = &f->object->headers;
	uint64_t sum = 0;
	f->sections = jp_arena_alloc(&f->arena, (h->section_count + 1) * sizeof *f->sections);
	for (size_t i = 0; f->sections && i < h->section_count; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		struct jp_bytes bytes;
		if (s->type != SHT_PROGBITS || !(s->flags & SHF_ALLOC) || s->flags & SHF_WRITE || !s->size ||
		    s->size > most_image || (sum += s->size) > most_image || s->address + s->size < s->address)
			continue;
		if (section_copy(f->object, s, most_image, &f->arena, &bytes))
			return -1;
		bool code = s->flags & SHF_EXECINSTR, plt = code && !strncmp(s->name, ".plt", 4);
		if (bytes.len)
			f->sections[f->section_count++] =
			    (struct jp_codesection){ s->address, s->address + s->size, bytes.data, code, plt, !code };
	}
	if (f->section_count)
		qsort(f->sections, f->section_count, sizeof *f->sections, by_section_start);
	return f->sections ? 0 : -1;
}

const struct jp_codesection *jp_codefile_section(const struct jp_codefile *f, uint64_t vaddr)
{
	const struct jp_codesection *s = jp_last_up_to(f->sections, f->section_count, sizeof *f->sections, vaddr);
	return s && vaddr < s->end ? s : NULL;
}

/* ---- functions ---------------------------------------------------------------------------------- */

static int read_functions(struct jp_codefile *f)
{
	const struct jp_elf_section *frames = jp_elf_section_find(&f->object->headers, ".eh_frame", SHT_NULL);
	const struct jp_codesection *loaded = frames ? jp_codefile_section(f, frames->address) : NULL;
	if (!loaded)
		return 0;
	struct jp_bytes bytes = { .data = loaded->bytes,
		                  .len = (size_t)(loaded->end - loaded->start),
		                  .big_endian = f->object->headers.big_endian };
	size_t count;
	if (jp_ehframe_walk(bytes, loaded->start, f->object->headers.bits / 8, &f->functions, &count))
		return -1;
	struct jp_codebounds *all = f->functions;
	for (size_t i = 0; i < count; i++) {
		const struct jp_codesection *s = jp_codefile_section(f, all[i].start);
		bool over = f->function_count && all[f->function_count - 1].end > all[i].start;
		if (s && s->code && !s->plt && all[i].end > all[i].start && all[i].end <= s->end && !over)
			all[f->function_count++] = all[i];
	}
	return 0;
}

size_t jp_codefile_function(const struct jp_codefile *f, uint64_t vaddr)
{
	const struct jp_codebounds *at = jp_last_up_to(f->functions, f->function_count, sizeof *at, vaddr);
	return at && vaddr < at->end ? (size_t)(at - f->functions) : SIZE_MAX;
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
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
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

/* ---- what the loader fills in ------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
	const struct jp_codeslot *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static int read_relocations(struct jp_codefile *f, const struct jp_elf_section *section)
{
	const struct jp_elf_section *symbols = jp_elf_section_linked(&f->object->headers, section);
	struct symbol_bytes table;
	struct jp_bytes in;
	if (!symbols)
		return 0;
	if (section_copy(f->object, section, most_names_read, &f->arena, &in) ||
	    read_symbol_bytes(f->object, symbols, &f->arena, &table))
		return -1;
	f->tables += in.len + table.entries.len + table.strings.len;
	if (f->tables > most_tables)
		return 0;
	for (size_t i = 0; i < in.len / sizeof(Elf64_Rela); i++) {
		struct symbol_entry e;
		uint64_t at = jp_bytes_uint(&in, 8), info = jp_bytes_uint(&in, 8);
		jp_bytes_uint(&in, 8);
		if (!ELF64_R_SYM(info) || !symbol_entry(&table, ELF64_R_SYM(info), &e))
			continue;
		if (jp_array_push(f->slots, f->slot_count, f->slot_cap))
			return -1;
		f->slots[f->slot_count++] = (struct jp_codeslot){ at, e.name };
	}
	return 0;
}

static int read_slots(struct jp_codefile *f)
{
	const struct jp_elf_headers *h = &f->object->headers;
	for (size_t i = 0; h->bits == 64 && i < h->section_count && f->tables <= most_tables; i++)
		if (h->sections[i].type == SHT_RELA && h->sections[i].flags & SHF_ALLOC &&
		    read_relocations(f, &h->sections[i]))
			return -1;
	if (f->slot_count)
		qsort(f->slots, f->slot_count, sizeof *f->slots, by_slot);
	return 0;
}

static const char *slot_name(const struct jp_codefile *f, uint64_t at)
{
	const struct jp_codeslot *slot = jp_last_up_to(f->slots, f->slot_count, sizeof *slot, at);
	return slot && slot->at == at ? slot->name : NULL;
}

/* ---- meanings ----------------------------------------------------------------------------------- */

static uint32_t stub_word(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The slot by which a stub of the linker's jumps on, 0: none. On x86-64 [endbr64] [bnd] jmp *SLOT(%rip), on AArch64
 * [bti c] adrp x16, PAGE; ldr x17, [x16, LOW]. */
static uint64_t stub_slot(const struct jp_codefile *f, const struct jp_codesection *s, uint64_t vaddr)
{
	const unsigned char *at = s->bytes + (vaddr - s->start);
	size_t room = (size_t)(s->end - vaddr), skip = 0;
	if (f->object->headers.machine == EM_X86_64) {
		if (room >= 4 && !memcmp(at, "\xf3\x0f\x1e\xfa", 4))
			skip = 4;
		if (skip < room && at[skip] == 0xf2)
			skip++;
		if (room < skip + 6 || at[skip] != 0xff || at[skip + 1] != 0x25)
			return 0;
		return vaddr + skip + 6 + (uint64_t)(int64_t)(int32_t)stub_word(at + skip + 2);
	}
	if (room >= 12 && stub_word(at) == 0xd503245f)
		skip = 4;
	if (room < skip + 8 || f->object->headers.machine != EM_AARCH64)
		return 0;
	uint32_t adrp = stub_word(at + skip), load = stub_word(at + skip + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return 0;
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	return ((vaddr + skip) & ~UINT64_C(0xfff)) + ((uint64_t)((int64_t)(pages << 43) >> 43) << 12) +
	       (load >> 10 & 0xfff) * 8;
}

/* Printable ASCII up to its NUL. */
static struct jp_span constant_text(const struct jp_codesection *s, uint64_t vaddr)
{
	const char *text = (const char *)s->bytes + (vaddr - s->start);
	size_t room = (size_t)(s->end - vaddr), len = 0;
	while (len < room && len < most_string &&
	       ((text[len] >= ' ' && text[len] < 0x7f) || text[len] == '\n' || text[len] == '\t'))
		len++;
	return (struct jp_span){ text, len < room && (len == most_string || !text[len]) ? len : 0 };
}

struct jp_span jp_codefile_meaning(const struct jp_codefile *f, uint64_t vaddr)
{
	const struct jp_codesection *s = jp_codefile_section(f, vaddr);
	const char *name = NULL;
	if (s && s->constant)
		return constant_text(s, vaddr);
	if (s && s->plt)
		name = slot_name(f, stub_slot(f, s, vaddr));
	else if (!s)
		name = slot_name(f, vaddr);
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
	return read_code_sections(f) || read_functions(f) || read_slots(f) ? -1 : 0;
}

void jp_codefile_release(struct jp_codefile *f)
{
	free(f->functions);
	free(f->slots);
	jp_arena_release(&f->arena);
}
