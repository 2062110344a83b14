#include "input/symtab.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* Addresses from `start` to `limit` belong to one symbol. */
struct range {
	uint64_t start, limit;
	uint32_t symbol;
};

struct ranges {
	struct range *items;
	size_t count, cap;
};

struct placed_symbol {
	struct jp_symbol symbol;
	uint64_t section_end;
};

struct jp_symtab {
	struct placed_symbol *symbols; /* by value, then rank, then name */
	size_t count, cap;
	struct ranges sized;   /* disjoint, ascending: the innermost sized symbol of every address */
	struct ranges unsized; /* disjoint, ascending: what symbols of size 0 may hold */
};

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Exported before weak before local; typed before untyped; plain before underscored names. */
static unsigned char rank_of(const GElf_Sym *sym, const char *name)
{
	int bind = GELF_ST_BIND(sym->st_info);
	unsigned rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
	if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank += 3;
	return (unsigned char)(rank * 4 + (unsigned)(*name == '_') + (unsigned)!strncmp(name, "__", 2));
}

/* Names of assembler-made marks, which are no functions. */
static bool is_mark(const char *name)
{
	return !*name || *name == '$' || !strncmp(name, ".L", 2);
}

static int add_symbol(struct jp_symtab *t, const GElf_Sym *sym, const char *name, uint64_t section_end,
                      enum jprof_source source)
{
	uint64_t room = UINT64_MAX - sym->st_value;
	if (jp_array_push(t->symbols, t->count, t->cap))
		return -1;
	t->symbols[t->count++] =
	    (struct placed_symbol){ .symbol = { sym->st_value, sym->st_size < room ? sym->st_size : room, name, source,
		                                rank_of(sym, name) },
		                    .section_end = section_end };
	return 0;
}

/* The end of the executable section that a symbol lies in; 0 if it lies in none. */
static uint64_t code_end(Elf *elf, const GElf_Sym *sym, Elf32_Word xindex)
{
	size_t index = sym->st_shndx == SHN_XINDEX ? xindex : sym->st_shndx;
	GElf_Shdr shdr;
	if (index == SHN_UNDEF || (index >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX))
		return 0;
	Elf_Scn *scn = elf_getscn(elf, index);
	if (!scn || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) || sym->st_value < shdr.sh_addr)
		return 0;
	return shdr.sh_size > UINT64_MAX - shdr.sh_addr ? UINT64_MAX : shdr.sh_addr + shdr.sh_size;
}

static int read_table(struct jp_symtab *t, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, enum jprof_source source)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	if (!data || !shdr->sh_entsize)
		return 0;
	size_t count = data->d_size / shdr->sh_entsize;
	for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
		GElf_Sym sym;
		Elf32_Word xindex = 0;
		if (!gelf_getsymshndx(data, NULL, (int)i, &sym, &xindex) || !is_function(&sym))
			continue;
		const char *name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		uint64_t end = code_end(elf, &sym, xindex);
		if (!name || is_mark(name) || end <= sym.st_value)
			continue;
		if (add_symbol(t, &sym, name, end, source))
			return -1;
	}
	return 0;
}

static int read_tables(struct jp_symtab *t, Elf *elf)
{
	Elf_Scn *scn = NULL;
	int rc = 0;
	while (!rc && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB)
			rc = read_table(t, elf, scn, &shdr, JPROF_SOURCE_SYMTAB);
		else if (shdr.sh_type == SHT_DYNSYM)
			rc = read_table(t, elf, scn, &shdr, JPROF_SOURCE_DYNSYM);
	}
	return rc;
}

/* ---- arranging -------------------------------------------------------------------------------- */

static int compare_symbols(const void *x, const void *y)
{
	const struct jp_symbol *a = &((const struct placed_symbol *)x)->symbol;
	const struct jp_symbol *b = &((const struct placed_symbol *)y)->symbol;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	int by_name = strcmp(a->name, b->name);
	return by_name ? by_name : (a->source < b->source) - (a->source > b->source);
}

static uint64_t value_at(const struct jp_symtab *t, size_t i)
{
	return t->symbols[i].symbol.value;
}

static int add_range(struct ranges *to, uint64_t start, uint64_t limit, uint32_t symbol)
{
	if (start >= limit)
		return 0;
	if (jp_array_push(to->items, to->count, to->cap))
		return -1;
	to->items[to->count++] = (struct range){ start, limit, symbol };
	return 0;
}

/* Emits what the symbols on the stack hold from `from` up to `to`, innermost first; those that
 * end before `to` are taken off. */
static int emit(struct jp_symtab *t, uint32_t *stack, size_t *depth, uint64_t from, uint64_t to)
{
	while (*depth && from < to) {
		const struct jp_symbol *open = &t->symbols[stack[*depth - 1]].symbol;
		uint64_t end = open->value + open->size;
		uint64_t limit = end < to ? end : to;
		if (limit > from) {
			if (add_range(&t->sized, from, limit, stack[*depth - 1]))
				return -1;
			from = limit;
		}
		if (end <= to)
			(*depth)--;
	}
	return 0;
}

/* A sweep from low to high addresses: the stack holds the symbols that are open, the one that
 * started last on top. Of several at one address the best ranked one is on top. */
static int arrange_sized(struct jp_symtab *t)
{
	uint32_t *stack = calloc(t->count + 1, sizeof *stack);
	size_t depth = 0;
	int rc = stack ? 0 : -1;
	for (size_t i = 0; !rc && i < t->count;) {
		uint64_t value = value_at(t, i);
		size_t next = i;
		while (next < t->count && value_at(t, next) == value)
			next++;
		for (size_t k = next; k-- > i;)
			if (t->symbols[k].symbol.size)
				stack[depth++] = (uint32_t)k;
		rc = emit(t, stack, &depth, value, next < t->count ? value_at(t, next) : UINT64_MAX);
		i = next;
	}
	free(stack);
	return rc;
}

static int arrange_unsized(struct jp_symtab *t)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < t->count;) {
		uint64_t value = value_at(t, i);
		size_t next = i, chosen = t->count;
		for (; next < t->count && value_at(t, next) == value; next++)
			if (!t->symbols[next].symbol.size && chosen == t->count)
				chosen = next;
		if (chosen < t->count) {
			uint64_t limit = t->symbols[chosen].section_end;
			if (next < t->count && value_at(t, next) < limit)
				limit = value_at(t, next);
			rc = add_range(&t->unsized, value, limit, (uint32_t)chosen);
		}
		i = next;
	}
	return rc;
}

struct jp_symtab *jp_symtab_new(Elf *elf, Elf *debug)
{
	struct jp_symtab *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	int rc = read_tables(t, elf) || (debug && read_tables(t, debug));
	if (!rc && t->count)
		qsort(t->symbols, t->count, sizeof *t->symbols, compare_symbols);
	if (!rc && !arrange_sized(t) && !arrange_unsized(t))
		return t;
	jp_symtab_free(t);
	return NULL;
}

/* ---- asking --------------------------------------------------------------------------------- */

static const struct range *find_range(const struct ranges *ranges, uint64_t vaddr)
{
	const struct range *range = jp_last_up_to(ranges->items, ranges->count, sizeof *ranges->items, vaddr);
	return range && vaddr < range->limit ? range : NULL;
}

const struct jp_symbol *jp_symtab_find(const struct jp_symtab *t, uint64_t vaddr, uint64_t fde_start, uint64_t fde_end)
{
	const struct range *range = find_range(&t->sized, vaddr);
	if (range)
		return &t->symbols[range->symbol].symbol;
	range = find_range(&t->unsized, vaddr);
	if (!range || (fde_start < fde_end && range->start < fde_start))
		return NULL;
	return &t->symbols[range->symbol].symbol;
}

bool jp_symtab_exports(const struct jp_symtab *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->symbols[i].symbol.source == JPROF_SOURCE_DYNSYM && !strcmp(t->symbols[i].symbol.name, name))
			return true;
	return false;
}

const struct jp_symbol *jp_symtab_at(const struct jp_symtab *t, size_t i)
{
	return i < t->count ? &t->symbols[i].symbol : NULL;
}

void jp_symtab_free(struct jp_symtab *t)
{
	if (!t)
		return;
	free(t->symbols);
	free(t->sized.items);
	free(t->unsized.items);
	free(t);
}
